#include "record/machine.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/strbuf.h"

static struct fact *find(const struct machine *m, const char *key)
{
	for (size_t i = 0; i < m->facts.count; i++)
		if (strcmp(m->facts.items[i].key, key) == 0)
			return &m->facts.items[i];
	return NULL;
}

void machine_set(struct machine *m, const char *key, const char *value)
{
	struct fact *f = find(m, key);
	if (f) {
		free(f->value);
		f->value = xstrdup(value);
	} else {
		array_push(&m->facts, (struct fact){ xstrdup(key), xstrdup(value) });
	}
}

void machine_setf(struct machine *m, const char *key, const char *fmt, ...)
{
	struct strbuf sb = { 0 };
	va_list args;
	va_start(args, fmt);
	strbuf_vprintf(&sb, fmt, args);
	va_end(args);
	machine_set(m, key, strbuf_text(&sb));
	strbuf_release(&sb);
}

const char *machine_get(const struct machine *m, const char *key)
{
	struct fact *f = find(m, key);
	return f ? f->value : NULL;
}

long machine_number(const struct machine *m, const char *key, long otherwise)
{
	const char *text = machine_get(m, key);
	long value;
	return text && integer_parse(text, INT64_MIN, INT64_MAX, &value) ? value : otherwise;
}

static bool is_identity(const char *key)
{
	static const char *const keys[] = { "system.host", "system.product", "cpu.vendor",
					    "cpu.model",   "cpu.family",     "cpu.model_number",
					    "cpu.present" };
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		if (strcmp(key, keys[i]) == 0)
			return true;
	return false;
}

/* FNV-1a of those facts that say which machine it is, or of all but those that move by themselves
 * from one run to the next. */
static void hash_facts(const struct machine *m, bool identity, char out[17])
{
	uint64_t hash = 14695981039346656037u;
	array_each(f, &m->facts) {
		const char *parts[] = { f->key, "=", f->value, "\n" };
		if (identity ? !is_identity(f->key) : strncmp(f->key, "now.", 4) == 0)
			continue;
		for (size_t p = 0; p < 4; p++)
			for (const char *c = parts[p]; *c; c++)
				hash = (hash ^ (unsigned char)*c) * 1099511628211u;
	}
	snprintf(out, 17, "%016llx", (unsigned long long)hash);
}

void machine_fingerprint(const struct machine *m, char out[17])
{
	hash_facts(m, false, out);
}

void machine_identity(const struct machine *m, char out[17])
{
	hash_facts(m, true, out);
}

char *machine_to_text(const struct machine *m)
{
	struct strbuf sb = { 0 };
	for (size_t i = 0; i < m->facts.count; i++) {
		strbuf_printf(&sb, "%s=", m->facts.items[i].key);
		for (const char *c = m->facts.items[i].value; *c; c++) {
			if (*c == '\n')
				strbuf_puts(&sb, "\\n");
			else if (*c == '\\')
				strbuf_puts(&sb, "\\\\");
			else
				strbuf_putc(&sb, *c);
		}
		strbuf_putc(&sb, '\n');
	}
	return strbuf_detach(&sb);
}

void machine_from_text(struct machine *m, const char *text)
{
	struct strbuf value = { 0 };
	while (*text) {
		size_t length = strcspn(text, "\n"), key = strcspn(text, "=\n");
		if (key < length && *text != '#') {
			strbuf_clear(&value);
			for (size_t i = key + 1; i < length; i++) {
				if (text[i] == '\\' && i + 1 < length)
					strbuf_putc(&value, text[++i] == 'n' ? '\n' : text[i]);
				else
					strbuf_putc(&value, text[i]);
			}
			char *name = xstrndup(text, key);
			machine_set(m, name, strbuf_text(&value));
			free(name);
		}
		text += length + (text[length] == '\n');
	}
	strbuf_release(&value);
}

void machine_release(struct machine *m)
{
	for (size_t i = 0; i < m->facts.count; i++) {
		free(m->facts.items[i].key);
		free(m->facts.items[i].value);
	}
	array_release(&m->facts);
}
