#include "protocol/emp/steady.h"

#include <math.h>
#include <string.h>

#include "base/array.h"

#define FEWEST 6	 /* executions for one coefficient; three more for each further one */
#define FEWEST_BETTER 10 /* for PT(steady) to be the figure to trust */
#define HELPS 0.95	 /* sigma_left / sigma */
#define BETTER 0.7
/* Chains hardly feel a sibling that costs other code much; a steeper coefficient is no speed. */
#define STEEPEST 4.0
#define PRIOR 1.0     /* how large coefficients are thought to be: the ridge */
#define PER_KIND 1.03 /* how much better it must get for one more coefficient */
#define K SPEED_KINDS

/* Solves the symmetric a x = b of `count` rows; with b the unit vectors it inverts. False: a is
 * singular. */
static bool invert(size_t count, double a[K][K], double out[K][K])
{
	double m[K][2 * K] = { { 0 } };
	for (size_t i = 0; i < count; i++) {
		memcpy(m[i], a[i], count * sizeof m[i][0]);
		m[i][count + i] = 1;
	}
	for (size_t i = 0; i < count; i++) {
		if (!(m[i][i] > 1e-300)) /* positive definite: no need to look for a pivot */
			return false;
		double by = m[i][i];
		for (size_t j = 0; j < 2 * count; j++)
			m[i][j] /= by;
		for (size_t r = 0; r < count; r++) {
			double times = m[r][i];
			for (size_t j = 0; r != i && j < 2 * count; j++)
				m[r][j] -= times * m[i][j];
		}
	}
	for (size_t i = 0; i < count; i++)
		memcpy(out[i], &m[i][count], count * sizeof out[i][0]);
	return true;
}

/* The logarithms, less their means. */
struct centred {
	size_t n;
	double *y, (*x)[K];
	double mean_y, mean_x[K];
	bool seen[K];
	double moments[K][K], with_y[K], yy;
};

static void centre(const struct steady_input *in, size_t n, struct centred *c)
{
	*c = (struct centred){ .n = n,
			       .y = xcalloc(n, sizeof *c->y),
			       .x = xcalloc(n, sizeof *c->x) };
	for (size_t k = 0; k < K; k++) {
		c->seen[k] = true;
		for (size_t i = 0; i < n; i++)
			c->seen[k] &= in[i].speed_ns[k] > 0;
	}
	for (size_t i = 0; i < n; i++) {
		c->mean_y += (c->y[i] = log(in[i].pt_ns)) / (double)n;
		for (size_t k = 0; k < K; k++)
			if (c->seen[k])
				c->mean_x[k] += (c->x[i][k] = log(in[i].speed_ns[k])) / (double)n;
	}
	for (size_t i = 0; i < n; i++) {
		c->y[i] -= c->mean_y;
		c->yy += c->y[i] * c->y[i];
		for (size_t k = 0; k < K; k++)
			c->x[i][k] -= c->mean_x[k];
		for (size_t k = 0; k < K; k++) {
			c->with_y[k] += c->x[i][k] * c->y[i];
			for (size_t l = 0; l < K; l++)
				c->moments[k][l] += c->x[i][k] * c->x[i][l];
		}
	}
}

struct subset {
	size_t count, kind[K];
	double b[K], covariance[K][K];
	double left; /* sigma of the leave-one-out errors */
};

/* Ridge: coefficients are thought to be of the order of PRIOR, which matters for few executions
 * only. False: a coefficient is no speed. */
static bool fit_subset(const struct centred *c, struct subset *s)
{
	double variance = c->yy / (double)c->n / 4, inverse[K][K];
	for (int pass = 0; pass < 3; pass++) {
		double a[K][K], rest = c->yy;
		for (size_t i = 0; i < s->count; i++)
			for (size_t j = 0; j < s->count; j++)
				a[i][j] = c->moments[s->kind[i]][s->kind[j]] +
					  (i == j ? variance / (PRIOR * PRIOR) : 0);
		if (!invert(s->count, a, inverse))
			return false;
		for (size_t i = 0; i < s->count; i++) {
			s->b[i] = 0;
			for (size_t j = 0; j < s->count; j++)
				s->b[i] += inverse[i][j] * c->with_y[s->kind[j]];
		}
		for (size_t i = 0; i < s->count; i++) {
			rest -= 2 * s->b[i] * c->with_y[s->kind[i]];
			for (size_t j = 0; j < s->count; j++)
				rest += s->b[i] * s->b[j] * c->moments[s->kind[i]][s->kind[j]];
		}
		variance = rest > 0 ? rest / (double)(c->n - 1 - s->count) : 0;
	}
	double sum = 0;
	for (size_t i = 0; i < c->n; i++) {
		double error = c->y[i], weight = 1 / (double)c->n;
		for (size_t j = 0; j < s->count; j++) {
			error -= s->b[j] * c->x[i][s->kind[j]];
			for (size_t l = 0; l < s->count; l++)
				weight += c->x[i][s->kind[j]] * inverse[j][l] * c->x[i][s->kind[l]];
		}
		error /= 1 - (weight < 0.95 ? weight : 0.95);
		sum += error * error;
	}
	s->left = sqrt(sum / (double)c->n);
	bool sound = true;
	for (size_t i = 0; i < s->count; i++) {
		sound &= s->b[i] > 0 && s->b[i] < STEEPEST;
		for (size_t j = 0; j < s->count; j++)
			s->covariance[i][j] = variance * inverse[i][j];
	}
	return sound;
}

/* The kinds that predict best, each of them with a coefficient above 0. */
static void choose(const struct centred *c, struct subset *best)
{
	double least = INFINITY;
	*best = (struct subset){ 0 };
	for (unsigned mask = 1; mask < 1u << K; mask++) {
		struct subset s = { 0 };
		bool seen = true;
		for (size_t k = 0; k < K; k++)
			if (mask >> k & 1) {
				seen &= c->seen[k];
				s.kind[s.count++] = k;
			}
		if (!seen || c->n < FEWEST + 3 * (s.count - 1) || !fit_subset(c, &s))
			continue;
		double judged = s.left * pow(PER_KIND, (double)s.count);
		if (judged < least) {
			least = judged;
			*best = s;
		}
	}
}

static double reference_of(const struct steady_input *in, size_t n, const double *given, size_t k)
{
	double best = given ? given[k] : NAN;
	for (size_t i = 0; i < n; i++)
		if (in[i].speed_ns[k] > 0 && !(best <= in[i].speed_ns[k]))
			best = in[i].speed_ns[k];
	return best;
}

/* How much the speed varied, by the kind that varied most, without the loads, which depend on what
 * the subject does to the caches itself: half of the range from the 5 % to the 95 % quantile would
 * be robust, but sigma is what is compared with. */
static double variation(const struct centred *c)
{
	double most = 0;
	for (size_t k = 0; k < K; k++)
		if (c->seen[k] && k != SPEED_LOADS && c->n > 1) {
			double sigma = sqrt(c->moments[k][k] / (double)(c->n - 1));
			most = sigma > most ? sigma : most;
		}
	return most;
}

void steady_fit(const struct steady_input *in, size_t n, const double *reference_ns,
		struct steady_fit *out)
{
	struct centred c;
	struct subset best;
	*out = (struct steady_fit){ .n = n, .most = SPEED_KINDS };
	for (size_t k = 0; k < K; k++)
		out->reference_ns[k] = reference_of(in, n, reference_ns, k);
	if (n < 2)
		return;
	centre(in, n, &c);
	out->sigma = out->sigma_left = sqrt(c.yy / (double)(n - 1));
	out->varied = variation(&c);
	choose(&c, &best);
	/* what the mean of the others predicts, so that both are judged alike */
	double alone = sqrt(c.yy / (double)n) * (double)n / (double)(n - 1);
	if (best.count && best.left < HELPS * alone) {
		double most = 0;
		out->helps = true;
		out->better = n >= FEWEST_BETTER && best.left < BETTER * alone;
		out->sigma_left = out->sigma * best.left / alone;
		out->explained = 1 - best.left / alone;
		for (size_t i = 0; i < best.count; i++) {
			size_t k = best.kind[i];
			double away = c.mean_x[k] - log(out->reference_ns[k]);
			double matters = best.b[i] * sqrt(c.moments[k][k]);
			out->coefficient[k] = best.b[i];
			out->shift += best.b[i] * away;
			if (matters > most) {
				most = matters;
				out->most = (enum speed_kind)k;
			}
			for (size_t j = 0; j < best.count; j++) {
				size_t l = best.kind[j];
				out->covariance[k][l] = best.covariance[i][j];
				out->shift_error += best.covariance[i][j] * away *
						    (c.mean_x[l] - log(out->reference_ns[l]));
			}
		}
		out->shift_error = out->shift_error > 0 ? sqrt(out->shift_error) : 0;
	}
	xfree(c.y);
	xfree(c.x);
}

double steady_value(const struct steady_fit *f, const struct steady_input *in)
{
	double off = 0;
	for (size_t k = 0; k < K; k++)
		if (f->coefficient[k] != 0)
			off += f->coefficient[k] * log(in->speed_ns[k] / f->reference_ns[k]);
	return in->pt_ns * exp(-off);
}

/* Student's t for 95 %, by the first terms of Cornish and Fisher's expansion. */
static double student(double freedom)
{
	const double z = 1.959964, z3 = z * z * z, z5 = z3 * z * z;
	return z + (z3 + z) / (4 * freedom) + (5 * z5 + 16 * z3 + 3 * z) / (96 * freedom * freedom);
}

double steady_reach(const struct steady_fit *f)
{
	size_t used = 1;
	for (size_t k = 0; k < K; k++)
		used += f->coefficient[k] != 0;
	return f->n > used ? student((double)(f->n - used)) * f->shift_error : 0;
}

double steady_speed(const struct steady_fit *f, const struct steady_input *in, enum speed_kind k)
{
	return f->reference_ns[k] / in->speed_ns[k];
}
