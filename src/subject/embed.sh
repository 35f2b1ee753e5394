#!/bin/sh
# Writes the experiments given, NAME.yaml each, as a C source to standard output.
# POSIX tools only: a build of tare needs no scripting language.
set -eu
echo '#include "subject/experiment.h"'
echo '#include "subject/experiment_texts.h"'
for file in "$@"; do
	name=$(basename "$file" .yaml)
	echo "static const unsigned char text_${name}[] = {"
	od -An -v -tu1 "$file" | sed -e 's/^ */	/' -e 's/  */, /g' -e 's/$/,/'
	echo '	0 };'
done
echo 'const char *const experiment_names[] = {'
for file in "$@"; do
	echo "	\"$(basename "$file" .yaml)\","
done
echo '	0 };'
echo 'const char *const experiment_texts[] = {'
for file in "$@"; do
	echo "	(const char *)text_$(basename "$file" .yaml),"
done
echo '};'
