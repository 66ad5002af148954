/** Fault of an address, which must be http(s) without user, query and fragment. Null for a valid one. */
export function httpAddressFault(value: string): string | null {
  const url = URL.parse(value);
  const isPlain = url !== null && url.username === '' && url.password === '' && url.search === '' && url.hash === '';
  return isPlain && /^https?:$/.test(url.protocol) ? null : 'is not an http(s) address without a query';
}

/** `*`, or an origin as browsers send it: scheme and host in lower case, an optional port, no path. */
const ORIGIN = /^(?:\*|[a-z][a-z\d+.-]*:\/\/[^/?#@\s,A-Z]+)$/;

/** Fault of an allowed origin. Null for `*` and for an origin. */
export const originFault = (text: string): string | null =>
  ORIGIN.test(text) ? null : `"${text}" is neither * nor an origin such as https://app.example.com, in lower case`;

/** Fault of a proxy address, without its value, which may contain a password. Null for an http: or https: address. */
export const proxyAddressFault = (value: string): string | null =>
  /^https?:$/.test(URL.parse(value)?.protocol ?? '') ? null : 'is not an http:// or https:// address';

const CLICKHOUSE_ADDRESS = /^(?:https?|clickhouse):\/\/[^/]/i;

/**
 * Fault of the address of a ClickHouse server, without its value, which may contain a password. Null for a valid one.
 */
export const clickHouseAddressFault = (value: string): string | null =>
  CLICKHOUSE_ADDRESS.test(value) && URL.canParse(value)
    ? null
    : 'is not an address like http://user:password@host:8123';

/** Fault of a database name that SQL would have to quote. Null for a valid one. */
export const databaseNameFault = (value: string): string | null =>
  /^[a-z_]\w{0,62}$/i.test(value) ? null : 'is not letters, digits and underscores';

/** Fault of the address of a Redis server, without its value, which may contain a password. Null for a valid one. */
export const redisAddressFault = (value: string): string | null =>
  /^rediss?:\/\/[^/]/i.test(value) && URL.canParse(value)
    ? null
    : 'is not an address like redis://user:password@host:6379/0';

/** Fault of the type of the cache of answers. Null for a supported one. */
export const cacheTypeFault = (type: string): string | null =>
  type === 'local' || type === 'redis' ? null : 'is not a supported cache of answers: use `local` or `redis`';
