import type { IncomingMessage } from 'node:http';
import { InvalidInput, Unsupported } from './domain/errors.ts';

/** What any page may have a browser send elsewhere without asking; no client of a graph sends it. */
const FORM = /^\s*application\/x-www-form-urlencoded\b/i;

/**
 * Refuses what Yoga would misunderstand: a form, which another site's page can send, and query parameters that are no
 * JSON, which it would report as a bug of ours.
 */
export function assertReadable({ headers, url = '' }: IncomingMessage): void {
  if (FORM.test(headers['content-type'] ?? '')) throw new Unsupported('Send the operation as application/json.');
  const mark = url.indexOf('?');
  if (mark === -1) return;
  const search = new URLSearchParams(url.slice(mark));
  for (const name of ['variables', 'extensions']) {
    const text = search.get(name);
    if (text && !isJson(text)) throw new InvalidInput(`The query parameter \`${name}\` is not valid JSON.`);
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
