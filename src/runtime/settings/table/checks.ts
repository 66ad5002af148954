/** Why a text is no http(s) address without user, query and fragment; null when it is one. */
export function httpAddress(value: string): string | null {
  const url = URL.parse(value);
  const isPlain = url !== null && url.username === '' && url.password === '' && url.search === '' && url.hash === '';
  return isPlain && /^https?:$/.test(url.protocol) ? null : 'is not an http(s) address without a query';
}

/** As browsers send it: scheme and host in lower case, a port, no path. */
const ORIGIN = /^(?:\*|[a-z][a-z\d+.-]*:\/\/[^/?#@\s,A-Z]+)$/;

/** Why a text is no allowed origin; null for `*` and for an origin. */
export const originFault = (text: string): string | null =>
  ORIGIN.test(text) ? null : `"${text}" is neither * nor an origin such as https://app.example.com, in lower case`;

/** Why a text is no http: or https: address. The value may hold a password. */
export const proxyAddress = (value: string): string | null =>
  /^https?:$/.test(URL.parse(value)?.protocol ?? '') ? null : 'is not an http:// or https:// address';

const CLICKHOUSE_ADDRESS = /^(?:https?|clickhouse):\/\/[^/]/i;

/** Why a text is no address of a ClickHouse server. The value may hold a password. */
export const clickHouseAddress = (value: string): string | null =>
  CLICKHOUSE_ADDRESS.test(value) && URL.canParse(value)
    ? null
    : 'is not an address like http://user:password@host:8123';

/** Why a name of a database would have to be quoted; null when not. */
export const databaseName = (value: string): string | null =>
  /^[a-z_]\w{0,62}$/i.test(value) ? null : 'is not letters, digits and underscores';

/** Why a text is no address of a Redis server. The value may hold a password. */
export const redisAddress = (value: string): string | null =>
  /^rediss?:\/\/[^/]/i.test(value) && URL.canParse(value)
    ? null
    : 'is not an address like redis://user:password@host:6379/0';
