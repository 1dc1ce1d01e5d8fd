/* Signals as bytes: a handler writes the signal's number into a pipe and nothing else; crashes give the terminal back and die by the same signal.
 *
 *     int fd = signals_start();
 *     poll(fd) ... while ((signal = signals_take())) ...
 *     signals_end();                                     (the handlers that were there before are back)
 */
#ifndef SIGNALS_H
#define SIGNALS_H

int signals_start(void);
int signals_take(void); /* 0: none waits */
void signals_end(void);

#endif
