import { UsageFailure } from '../failure.ts';

export const DEFAULT_BASE_URL = 'http://localhost:4000';

const withoutTrailingSlashes = (url: string): string => url.replace(/\/+$/, '');

/**
 * Checks the base URL of a server: an absolute http(s) URL without user, query and fragment. Returns the URL without
 * trailing slashes. Throws UsageFailure with `name` in its message.
 */
export function checkedBaseUrl(text: string, name = 'base_url'): string {
  let url: URL;
  try {
    url = new URL(text.trim());
  } catch {
    throw new UsageFailure(`${name} must be a full http(s) URL, such as ${DEFAULT_BASE_URL}`);
  }
  if (!['http:', 'https:'].includes(url.protocol) || url.hostname === '')
    throw new UsageFailure(`${name} must be a full http(s) URL, such as ${DEFAULT_BASE_URL}`);
  if (url.search !== '' || url.hash !== '' || /[?#]/.test(text))
    throw new UsageFailure(`${name} must not include a query string or fragment`);
  if (url.username !== '' || url.password !== '') throw new UsageFailure(`${name} must not include user info`);
  return withoutTrailingSlashes(text.trim());
}
