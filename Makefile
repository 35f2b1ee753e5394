# The front door. Meson and Ninja do the work beneath; `make help` lists the targets.

B ?= build
PREFIX ?= /usr/local
MESON_ARGS ?=
FUZZ_MINUTES ?= 30

# bpftool is in sbin, which is not in a Debian user's PATH.
export PATH := $(PATH):/usr/sbin:/sbin

all: $(B)/build.ninja
	@ninja -C $(B)

$(B)/build.ninja:
	@command -v meson >/dev/null || { echo "meson is missing: 'make setup' installs what a build needs" >&2; exit 3; }
	meson setup $(B) --prefix=$(PREFIX) $(MESON_ARGS)

# One file that needs no library. Debian has no static libraries for what is left out, or they load others (decision 047).
static: build-static/build.ninja
	@ninja -C build-static tare

build-static/build.ninja:
	meson setup build-static -Dprefer_static=true -Dc_link_args=-static-pie -Ddebug=false -Dtests=disabled \
		-Dnetlink=disabled -Dsystemd=disabled -Dserve=disabled -Dpostgresql=disabled -Dmariadb=disabled -Dodbc=disabled $(MESON_ARGS)

setup:
	@scripts/setup build

demo: setup
	@$(MAKE) --no-print-directory all
	@scripts/demo $(B)/tare $(B)/demo

check:
	@scripts/setup check
	@tests/run

test:
	@tests/run --quick

fuzz:
	@scripts/setup check
	@tests/run --fuzz $(FUZZ_MINUTES)

torture:
	@scripts/setup torture
	@tests/torture/all $(B)

matrix:
	@scripts/setup matrix
	@tests/matrix/run --markdown docs/kernels.md

packages:
	@tests/packages/run

release: matrix packages
	@scripts/minimal-root bookworm check
	@scripts/minimal-root trixie check

install: all
	@meson configure $(B) -Dprefix=$(PREFIX)
	meson install -C $(B)
	@scripts/installed note $(B) $(PREFIX)

uninstall:
	@scripts/installed remove $(B) $(PREFIX)

deb:
	@scripts/setup deb
	@scripts/deb $(if $(ARCH),--arch $(ARCH)) $(if $(SUITE),--suite $(SUITE))

bench: all
	@bench/run $(B)/tare $(B)

page:
	npm --prefix web ci --ignore-scripts
	npm --prefix web run build

generated: all
	@ninja -C $(B) catalogue
	@scripts/generate $(B)/catalogue

format:
	@find src tests $(wildcard bench) -name '*.[ch]' -exec clang-format -i {} +

tidy:
	@TARE_TIDY=further tests/run tidy

clean:
	@for d in $(B) build-check build-deb build-static; do \
		if [ -e $$d/build.ninja ] || [ -e $$d/.tare-check ] || [ -e $$d/.tare-deb ]; then rm -rf -- $$d; fi; done

help:
	@echo "make            build tare as $(B)/tare (B=DIR for another place, MESON_ARGS=... for meson)"
	@echo "make demo       install what is missing, build, measure a real program, show the result"
	@echo "make check      install what is missing, then build and run every test (tests/run --list)"
	@echo "make test       build and run the quick tests: unit, kernel, commands that take no long time"
	@echo "make fuzz       run the fuzz targets for FUZZ_MINUTES ($(FUZZ_MINUTES)) and add what they find to tests/fuzz/corpus"
	@echo "make torture    try to break tare for hours: kills, failing writes, a machine with systemd (needs root)"
	@echo "make matrix     try tare on Debian's kernels, amd64 and arm64, in QEMU, and renew docs/kernels.md (an hour; needs root)"
	@echo "make packages   try the Debian packages, 'make uninstall' and 'make static': install, use, remove (an hour; needs root)"
	@echo "make release    what a release has to pass: matrix, packages, and 'make check' on a bare Debian 12 and 13 (three hours)"
	@echo "make install    install into PREFIX ($(PREFIX)), beneath DESTDIR when given"
	@echo "make uninstall  remove what 'make install' put there, with the same PREFIX and DESTDIR"
	@echo "make deb        build the Debian package in build-deb (ARCH=arm64, SUITE=trixie: for another Debian; needs root)"
	@echo "make static     build build-static/tare, one file that needs no library (no web server, no drivers but SQLite's)"
	@echo "make setup      install what a build needs (Debian; elsewhere: list it)"
	@echo "make bench      compare with the peers"
	@echo "make page       build web/dist/page.html, which is in the program, from web/src (needs Node)"
	@echo "make generated  make the schemas, the page's types and docs/lab.md again from the catalogue"
	@echo "make format     format the C sources (clang-format 14)"
	@echo "make tidy       run clang-tidy over the sources"
	@echo "make clean      remove what was built"

.PHONY: all setup demo check test fuzz torture matrix packages release install uninstall deb static bench page generated format tidy clean help
