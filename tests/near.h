/* Numbers that are nearly the same. Not so cmocka's assert_float_equal: it takes NaN and infinity for equal to anything, and floats for doubles.
 *
 *     assert_near(loss, 0.25, 1e-6);
 */
#ifndef TESTS_NEAR_H
#define TESTS_NEAR_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static inline void near_or_fail(double value, double wanted, double slack, const char *file, int line)
{
    if (fabs(value - wanted) <= slack) return;
    print_error("%.17g is not %.17g\n", value, wanted);
    _fail(file, line);
}

#define assert_near(value, wanted, slack) near_or_fail(value, wanted, slack, __FILE__, __LINE__)

#endif
