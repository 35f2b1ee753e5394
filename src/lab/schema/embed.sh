#!/bin/sh
# Writes the schema files given, in order of version, as a C source to standard output.
# POSIX tools only: a build of tare needs no scripting language.
set -eu
echo '#include "lab/sqlite.h"'
n=0
for file in "$@"; do
	n=$((n + 1))
	echo "static const unsigned char schema_${n}[] = {"
	od -An -v -tu1 "$file" | sed -e 's/^ */	/' -e 's/  */, /g' -e 's/$/,/'
	echo '	0 };'
done
echo 'const char *const lab_schema[] = {'
i=0
while [ $i -lt $n ]; do
	i=$((i + 1))
	echo "	(const char *)schema_$i,"
done
echo '};'
echo "const int lab_schema_version = $n;"
