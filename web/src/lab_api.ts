// What `tare serve` is asked, and how: every call has the token in a header, so that no other page can make it.

export interface RunRow {
  id: number; kind: 'time' | 'noise' | 'profile' | 'query' | 'duet'; name: string | null; command: string | null; tags: string | null;
  status: 'going' | 'complete' | 'interrupted' | 'failed'; started_at: string | null; ended_at: string | null;
  executions: number | null; mean_et_of_all_ns: number | null; mean_pt_exec_of_all_ns: number | null;
  // of its kind, once something is stored
  noise?: { cpus: number; watched_ns: number; lost_share: number | null };
  profile?: { samples: number; cpu_ns: number | null };
  query?: { queries: number; ats: number };
  duet?: { pairs: number; sides: number };
}
export interface StudyRow { id: number; made_at: string | null; source: string; daemons: number; cutoffs: number }
export interface RunList { runs: RunRow[]; studies: StudyRow[]; more: boolean }

export class ApiError extends Error {
  constructor(readonly status: number, message: string, readonly hint: string = '') {
    super(message);
  }
}

/** An error as people read it. */
export function errorWords(error: unknown): string {
  if (!(error instanceof ApiError)) return String(error);
  return error.hint ? `${error.message} (${error.hint})` : error.message;
}

const KEY = 'tare-token';
const SILENT_MS = 60_000; // the server says something more often than this
const BACK_OFF_MS = 1_000;
const BACK_OFF_MOST_MS = 30_000;

/** The token moves from the address to this tab's own storage: there a reload finds it, while the address that is shown, copied, kept in the
 * history and sent along has none. Where there is no storage it stays in the address. */
export function takeToken(): string | null {
  const given = new URLSearchParams(location.search).get('token');
  try {
    if (!given) return sessionStorage.getItem(KEY);
    sessionStorage.setItem(KEY, given);
    history.replaceState(null, '', location.pathname + location.hash);
  } catch {
    // as it was, then
  }
  return given;
}

async function refused(answer: Response): Promise<ApiError> {
  let said: { error?: unknown; hint?: unknown } = {};
  try {
    said = await answer.json();
  } catch {
    // no words, then
  }
  return new ApiError(answer.status, typeof said?.error === 'string' ? said.error : `tare serve answers ${answer.status}`, typeof said?.hint === 'string' ? said.hint : '');
}

const gone = () => new ApiError(0, 'tare serve does not answer', 'is it still running?');

export class Api {
  constructor(private readonly token: string) {}

  private async call(path: string, init: RequestInit = {}): Promise<Response> {
    let answer: Response;
    try {
      answer = await fetch(path, { ...init, cache: 'no-store', headers: { ...init.headers, 'X-Tare-Token': this.token } });
    } catch (error) {
      if (init.signal?.aborted) throw error;
      throw gone();
    }
    if (!answer.ok) throw await refused(answer);
    return answer;
  }

  async get<T>(path: string, signal?: AbortSignal): Promise<T> {
    const answer = await this.call(path, signal ? { signal } : {});
    try {
      return await answer.json() as T;
    } catch (error) {
      if (signal?.aborted) throw error;
      throw new ApiError(0, 'the answer of tare serve was cut off');
    }
  }

  async edit(run: number, change: { name?: string; tags?: string }): Promise<void> {
    await this.call(`/api/runs/${run}`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(change) });
  }

  /** Server-sent events; EventSource could not send the token's header. Asks again when the connection breaks, later each time, until stopped. */
  listen(path: string, heard: (event: string, data: string) => void, state: (error: ApiError | null) => void): () => void {
    const stop = new AbortController();
    void this.listening(path, heard, state, stop.signal);
    return () => stop.abort();
  }

  private async listening(path: string, heard: (event: string, data: string) => void, state: (error: ApiError | null) => void, stop: AbortSignal): Promise<void> {
    let wait = BACK_OFF_MS;
    let last = '';
    while (!stop.aborted) {
      const once = new AbortController();
      const end = () => once.abort();
      stop.addEventListener('abort', end);
      let watch = 0;
      const alive = () => {
        clearTimeout(watch);
        watch = window.setTimeout(end, SILENT_MS);
      };
      try {
        alive();
        const answer = await this.call(path, { signal: once.signal, headers: last ? { 'Last-Event-ID': last } : {} });
        state(null);
        const parse = eventParser((event, data) => heard(event, data), (id) => { last = id; });
        const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
        for (;;) {
          const { done, value } = await reader.read();
          if (done) break;
          wait = BACK_OFF_MS;
          alive();
          parse(value);
        }
        throw gone();
      } catch (error) {
        if (!stop.aborted) state(error instanceof ApiError ? error : gone());
      } finally {
        clearTimeout(watch);
        stop.removeEventListener('abort', end);
      }
      await new Promise((resolve) => setTimeout(resolve, wait * (0.8 + 0.4 * Math.random())));
      wait = Math.min(BACK_OFF_MOST_MS, wait * 2);
    }
  }
}

/** Lines of text/event-stream, in whatever pieces they come. */
export function eventParser(heard: (event: string, data: string) => void, id: (id: string) => void): (piece: string) => void {
  let rest = '';
  let event = '';
  let data: string[] = [];
  return (piece) => {
    const lines = (rest + piece).split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop()!;
    for (const line of lines) {
      const colon = line.indexOf(':');
      const name = colon < 0 ? line : line.slice(0, colon);
      const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
      if (line === '') {
        if (event || data.length) heard(event || 'message', data.join('\n'));
        event = '';
        data = [];
      } else if (name === 'event') event = value;
      else if (name === 'data') data.push(value);
      else if (name === 'id') id(value);
    }
  };
}
