// `tare serve`: the runs of a lab, and the page of those that are chosen. The address says which: #run=1&run=2&study=3, or #like=TEXT&sort=-et of the list.
import { Api, takeToken } from './lab_api';
import { showList, type Asked, type Ticks } from './lab_list';
import { showReport } from './lab_report';
import { sortOf } from './lab_row';
import { clearPage } from './page';
import { h } from './parts/dom';
import { forgetChoices } from './parts/remember';

export interface Route { runs: number[]; studies: number[]; asked: Asked }

export function readRoute(hash: string): Route {
  const given = new URLSearchParams(hash.replace(/^#/, ''));
  const numbers = (name: string) => [...new Set(given.getAll(name).filter((x) => /^\d{1,15}$/.test(x)).map(Number))];
  return { runs: numbers('run'), studies: numbers('study'), asked: { like: given.get('like') ?? '', sort: sortOf(given.get('sort')) } };
}

/** Where the list is, as it was last asked for. */
function listAt({ like, sort }: Asked): string {
  return [like && `like=${encodeURIComponent(like)}`, sort && `sort=${sort}`].filter(Boolean).join('&');
}

/** Links within a page move there and leave the address alone, which says what is shown. */
function jump(event: MouseEvent): void {
  const link = (event.target as Element | null)?.closest?.('a[href^="#"]');
  const to = link?.getAttribute('href')?.slice(1);
  if (!to || to.includes('=') || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const target = document.getElementById(to);
  event.preventDefault();
  if (!target) return;
  target.scrollIntoView();
  if (!target.hasAttribute('tabindex')) target.setAttribute('tabindex', '-1');
  target.focus({ preventScroll: true });
}

function say(root: HTMLElement, text: string): void {
  root.replaceChildren(h('main', { id: 'main' }, h('h1', {}, 'tare'), h('p', {}, text)));
}

export function startLab(root: HTMLElement): void {
  if (!/^https?:$/.test(location.protocol)) {
    say(root, 'There is no data in this page.');
    return;
  }
  const token = takeToken();
  if (!token) {
    say(root, "This page needs the token of its server: open the address that 'tare serve' printed, with all of its ?token=…");
    return;
  }
  const api = new Api(token);
  const ticks: Ticks = new Map();
  let leave = () => {};
  let list = ''; // where it was
  const route = () => {
    leave();
    clearPage();
    forgetChoices();
    const to = readRoute(location.hash);
    if (to.runs.length || to.studies.length) {
      leave = showReport(api, root, to, `#${list}`);
    } else {
      list = listAt(to.asked);
      leave = showList(api, root, to.asked, ticks, (asked) => {
        list = listAt(asked);
        history.replaceState(null, '', list ? `#${list}` : location.pathname + location.search);
      });
    }
    window.scrollTo(0, 0);
  };
  window.addEventListener('hashchange', route);
  document.addEventListener('click', jump);
  route();
}
