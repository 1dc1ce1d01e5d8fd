# loopscope: make run | make test | make help

PREFIX ?= /usr/local
CC     ?= cc
CFLAGS ?= -O3 -g
BUILD  ?= build
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += -j$(shell nproc 2>/dev/null || echo 2)
endif
LIBS   := ncursesw openblas libpng libcjson cairo freetype2 libzip
FONT   ?= /usr/share/fonts/truetype/dejavu/DejaVuSans.ttf
FONT_MONO ?= /usr/share/fonts/truetype/dejavu/DejaVuSansMono.ttf
VERSION := 0.1

# Every folder sees only what it may know: src itself; probes and ui see src, and never each other.
SRC    := $(wildcard src/*/*.c) src/registry.c
PROBES := $(wildcard probes/*.c)
UI     := $(wildcard ui/*.c)
TESTS  := $(wildcard tests/*.c)

flags  = -std=c17 -ffp-contract=off -D_GNU_SOURCE -Wall -Wextra -Werror=implicit-function-declaration -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith \
         -Wno-missing-field-initializers -DVERSION='"$(VERSION)"' -pthread -MMD -MP $(shell pkg-config --cflags $(LIBS) 2>/dev/null) $(CFLAGS) $(EXTRA)
libs   = $(shell pkg-config --libs $(LIBS)) -lm -pthread $(EXTRA)
object = $(patsubst %.c,$(BUILD)/%.o,$(1))
PARTS := $(call object,$(SRC) $(PROBES) $(UI))

# What needs libraries is built by a make of its own, so that they are there before pkg-config is asked.
loopscope: packages-there
	@$(MAKE) --no-print-directory $(BUILD)/loopscope
	@ln -sf $(BUILD)/loopscope loopscope

$(BUILD)/loopscope: $(call object,src/main.c) $(BUILD)/parts.a
	@echo "  link  $@"
	@$(CC) -o $@ $^ $(libs)

$(BUILD)/parts.a: $(PARTS)
	@rm -f $@
	@ar rcs $@ $^

$(BUILD)/src/%.o: src/%.c
	@mkdir -p $(@D)
	@echo "  cc    $<"
	@$(CC) $(flags) -DPREFIX='"$(PREFIX)"' -DFONT='"$(FONT)"' -DFONT_MONO='"$(FONT_MONO)"' -Isrc -c -o $@ $<
$(BUILD)/src/main.o: src/main.c
	@mkdir -p $(@D)
	@echo "  cc    $<"
	@$(CC) $(flags) -Isrc -I. -c -o $@ $<
$(BUILD)/probes/%.o: probes/%.c
	@mkdir -p $(@D)
	@echo "  cc    $<"
	@$(CC) $(flags) -Isrc -Iprobes -c -o $@ $<
$(BUILD)/ui/%.o: ui/%.c
	@mkdir -p $(@D)
	@echo "  cc    $<"
	@$(CC) $(flags) -Isrc -iquote ui -c -o $@ $<
$(BUILD)/tests/%.o: tests/%.c
	@mkdir -p $(@D)
	@echo "  cc    $<"
	@$(CC) $(flags) $(shell pkg-config --cflags cmocka) -Isrc -Iprobes -iquote ui -c -o $@ $<
$(BUILD)/tests/%: $(BUILD)/tests/%.o $(BUILD)/parts.a
	@$(CC) -o $@ $^ $(libs) $(shell pkg-config --libs cmocka)

.PHONY: loopscope run test asan tsan bench bench-torch screenshots install uninstall clean help packages-there
.SECONDARY:

packages-there:
	@./packages.sh

run: loopscope                     ## install what is missing, build, open the screen on a bundled model
	@./loopscope tui

test: loopscope                    ## install what is missing, build, run all tests
	@$(MAKE) --no-print-directory tests-run
.PHONY: tests-run
tests-run: $(patsubst %.c,$(BUILD)/%,$(TESTS))
	@tests/run.sh $(BUILD) $^

asan:                              ## all tests under AddressSanitizer and UBSan
	@$(MAKE) test BUILD=build-asan CFLAGS='-O1 -g -fno-omit-frame-pointer' EXTRA='-fsanitize=address,undefined -fno-sanitize-recover=undefined -DPLAIN_KERNELS'
tsan:                              ## all tests under ThreadSanitizer
	@$(MAKE) test BUILD=build-tsan CFLAGS='-O1 -g' EXTRA='-fsanitize=thread -DPLAIN_KERNELS'

bench: loopscope                   ## speed against the machine's own matrix products; kept in bench-history.tsv
	@./loopscope bench --history bench-history.tsv
bench-torch: loopscope             ## the same work in PyTorch (python3-torch; PYTHON=another one that has it)
	@tests/bench/peer.sh ./loopscope $(PEER)

screenshots: loopscope             ## a picture of every view, drawn from the screen's own cells; MODEL=vanilla
	@mkdir -p screenshots
	@here=$$(pwd) && scratch=$$(mktemp -d) && cd "$$scratch" && export XDG_CONFIG_HOME="$$scratch" && \
	for view in $$("$$here/loopscope" view --tsv --quiet | grep -v '^#' | tail -n +2 | cut -f1); do \
	    "$$here/loopscope" view $$view $(or $(MODEL),vanilla) --example --rows 30 --cols 100 -o "$$here/screenshots/$$view.png" || exit 1; done; \
	rm -rf "$$scratch"

manual          = $(PREFIX)/share/man/man1
bash_completion = $(PREFIX)/share/bash-completion/completions
zsh_completion  = $(PREFIX)/share/zsh/site-functions

install: loopscope                 ## PREFIX=/usr/local, DESTDIR=
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/share/loopscope
	install -m 755 $(BUILD)/loopscope $(DESTDIR)$(PREFIX)/bin/loopscope
	install -d $(DESTDIR)$(manual) $(DESTDIR)$(bash_completion) $(DESTDIR)$(zsh_completion)
	$(BUILD)/loopscope help --man >$(DESTDIR)$(manual)/loopscope.1
	$(BUILD)/loopscope help --completion bash >$(DESTDIR)$(bash_completion)/loopscope
	$(BUILD)/loopscope help --completion zsh >$(DESTDIR)$(zsh_completion)/_loopscope
	cp -R models datasets $(DESTDIR)$(PREFIX)/share/loopscope/

uninstall:                         ## removes what install wrote
	rm -rf $(DESTDIR)$(PREFIX)/bin/loopscope $(DESTDIR)$(PREFIX)/share/loopscope $(DESTDIR)$(manual)/loopscope.1 \
	    $(DESTDIR)$(bash_completion)/loopscope $(DESTDIR)$(zsh_completion)/_loopscope

clean:                             ## removes what was built; bench-history.tsv stays
	rm -rf build build-asan build-tsan loopscope

help:                              ## this list
	@awk -F'##' '/^[a-z-]+:.*##/ { split($$1, t, ":"); printf "make %-12s %s\n", t[1], $$2 }' Makefile

-include $(patsubst %.o,%.d,$(PARTS) $(BUILD)/src/main.o $(call object,$(TESTS)))
