import { InvalidInput } from '../errors.ts';

/** A path as it is sent: visible ASCII. Other checks refuse `#`, `?` and backslashes. */
const SENT_PATH = /^[!-~]*$/;
const NEVER_IN_PATH = /[\p{Cc}\\]/u;
/** Number of times that a path is decoded and checked. A path that is still encoded after that is refused. */
const MAX_DECODINGS = 4;

const invalidPath = (): InvalidInput =>
  new InvalidInput('The path cannot be forwarded: it contains dot segments, empty segments or characters no path has.');

/**
 * Address of a path below a target. `subpath` is as it was sent, without a leading slash. The address is below the
 * target's path, also for an upstream that decodes it several times. Throws InvalidInput for any other path.
 */
export function addressBelow(target: string, subpath: string | null): URL {
  const base = new URL(target);
  if (subpath === null || subpath === '') return base;
  assertConfined(subpath);
  const start = base.pathname.endsWith('/') ? base.pathname : `${base.pathname}/`;
  const url = new URL(base);
  url.pathname = start + subpath;
  // The parser normalises paths, so its result is compared with the intended path.
  if (url.origin !== base.origin || url.pathname !== start + subpath) throw invalidPath();
  return url;
}

function assertConfined(subpath: string): void {
  // A decoded path may have other characters, `#` and `?`.
  if (!SENT_PATH.test(subpath) || /[#?]/.test(subpath)) throw invalidPath();
  let text = subpath;
  for (let round = 0; round < MAX_DECODINGS; round += 1) {
    if (NEVER_IN_PATH.test(text)) throw invalidPath();
    const segments = text.split('/');
    // The last segment may be empty, after a slash at the end.
    const isEmpty = (segment: string, at: number): boolean => segment === '' && at < segments.length - 1;
    if (segments.some((segment, at) => isDots(segment) || isEmpty(segment, at))) throw invalidPath();
    const decoded = decodedOnce(text);
    if (decoded === text) return;
    text = decoded;
  }
  throw invalidPath();
}

/** Whether a segment is `.` or `..`, also with a path parameter after a semicolon, which some servers remove. */
const isDots = (segment: string): boolean => segment === '.' || segment === '..' || /^\.{1,2};/.test(segment);

function decodedOnce(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw invalidPath();
  }
}

/** Name and raw text of each parameter of a query. */
const pairsOf = (search: string): readonly { readonly name: string; readonly text: string }[] =>
  search
    .split('&')
    .filter((text) => text !== '')
    .map((text) => ({ name: nameOf(text), text }));

const nameOf = (pair: string): string => [...new URLSearchParams(pair).keys()][0] ?? '';

/**
 * The query of a call: parameters of the request as they were sent, then those of the target, then the defaults. A name
 * of an earlier source hides the same name of later sources. The names in `without` are not taken from the request.
 */
export function forwardedQueryOf(search: string, { target, defaults, without = [] }: QuerySources): string {
  const sent = pairsOf(search).filter(({ name }) => !without.includes(name));
  const names = new Set(sent.map(({ name }) => name));
  const ofTarget = pairsOf(target.replace(/^\?/, '')).filter(({ name }) => !names.has(name));
  for (const { name } of ofTarget) names.add(name);
  const further = Object.entries(defaults)
    .filter(([name]) => !names.has(name))
    .map(([name, value]) => new URLSearchParams([[name, value]]).toString());
  return [...sent.map(({ text }) => text), ...ofTarget.map(({ text }) => text), ...further].join('&');
}

interface QuerySources {
  /** Query of the target. */
  readonly target: string;
  readonly defaults: Readonly<Record<string, string>>;
  readonly without?: readonly string[];
}
