import type { Secret } from '../secret.ts';
import { VERSION } from '../version.ts';

type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;
type Headers = Readonly<Record<string, string>>;

/** Headers of one connection. They are never forwarded, in either direction. */
const HOP_BY_HOP = [
  'connection',
  'expect',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
] as const;

/** Headers that may carry the caller's key of the gateway. */
const GATEWAY_KEYS = [
  'x-gateway-api-key',
  'x-litellm-api-key',
  'litellm_user_api_key',
  'api-key',
  'x-api-key',
  'x-goog-api-key',
  'ocp-apim-subscription-key',
] as const;

/**
 * Headers of a request that are not forwarded: of the connection, the length of the body, accepted codings, and
 * credentials.
 */
const NOT_FORWARDED = new Set<string>([
  ...HOP_BY_HOP,
  ...GATEWAY_KEYS,
  'accept-encoding',
  'authorization',
  'content-length',
  'cookie',
]);

/**
 * Headers of an answer that are not relayed. They are those of the connection and of the upstream's HTTP server
 * (`content-length`, `date`, `server`). Headers that change the browser state of the gateway's origin are not relayed
 * either.
 */
const NOT_RELAYED = new Set<string>([
  ...HOP_BY_HOP,
  'alt-svc',
  'clear-site-data',
  'content-length',
  'content-security-policy',
  'content-security-policy-report-only',
  'date',
  'nel',
  'public-key-pins',
  'refresh',
  'report-to',
  'server',
  'service-worker-allowed',
  'set-cookie',
  'set-cookie2',
  'strict-transport-security',
]);

/**
 * Headers that describe the body. `x-pass-` cannot set them: the gateway and the target must read the body in the same
 * way.
 */
const OF_BODY = new Set(['content-encoding', 'content-type']);

/** Prefix of a header that is forwarded without the prefix. */
const PASS_PREFIX = 'x-pass-';
const AWS_PREFIX = 'x-amz-';

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/**
 * Headers of the caller that a target gets: `content-type`, `content-encoding`, `accept`, and those with the prefix
 * `x-pass-`. With `forwards`, the target also gets an `Authorization` that belongs to it. It gets all other headers,
 * too, except those of `NOT_FORWARDED` and of the prefix `x-litellm-`.
 */
export function requestHeaders(sent: RequestHeaders, forwards: boolean): Headers {
  const listed = new Set(listOf(textOf(sent['connection'])));
  const headers: Record<string, string> = { accept: '*/*', 'user-agent': `lensgate/${VERSION}` };
  for (const [name, value] of Object.entries(sent)) {
    const text = textOf(value);
    if (text === null || listed.has(name)) continue;
    if (name.startsWith(PASS_PREFIX)) pass(name.slice(PASS_PREFIX.length), text, headers);
    else if (OF_BODY.has(name) || name === 'accept') headers[name] = text;
    else if (forwards && !NOT_FORWARDED.has(name) && !name.startsWith('x-litellm-')) headers[name] = text;
  }
  if (forwards && hasKeyOfTarget(sent)) headers['authorization'] = textOf(sent['authorization']) ?? '';
  return headers;
}

/** Whether `Authorization` belongs to the target, because the key of the gateway is in another header. */
const hasKeyOfTarget = (sent: RequestHeaders): boolean =>
  textOf(sent['authorization']) !== null && GATEWAY_KEYS.some((name) => (textOf(sent[name]) ?? '') !== '');

/** Adds a header that was sent with the prefix, unless it is withheld or malformed. */
function pass(name: string, text: string, headers: Record<string, string>): void {
  const isWithheld = NOT_FORWARDED.has(name) || OF_BODY.has(name) || name.startsWith(AWS_PREFIX);
  if (!isWithheld && TOKEN.test(name) && VALUE.test(text)) headers[name] = text;
}

function textOf(value: string | readonly string[] | undefined): string | null {
  if (value === undefined) return null;
  return typeof value === 'string' ? value : value.join(', ');
}

const listOf = (text: string | null): readonly string[] =>
  (text ?? '').split(',').map((name) => name.trim().toLowerCase());

const ASCII = /^[\0-\x7f]*$/;

/** The UTF-8 bytes of a value, each as one character: the form in which headers are written. */
const headerBytes = (value: string): string =>
  ASCII.test(value) ? value : Buffer.from(value, 'utf8').toString('latin1');

/** Headers of an upstream's answer that the caller gets; names in lower case, values as the bytes of the upstream. */
export function relayedHeaders(headers: Headers): Headers {
  const relayed = Object.entries(headers).filter(
    ([name]) => !NOT_RELAYED.has(name) && !name.startsWith('access-control-') && !name.startsWith('x-litellm-'),
  );
  return Object.fromEntries(relayed.map(([name, value]) => [name, headerBytes(value)]));
}

/** Headers whose values are not secrets. The value of any other header may be a credential. */
const SHOWN = new Set([
  'accept',
  'accept-charset',
  'accept-language',
  'anthropic-beta',
  'anthropic-version',
  'api-version',
  'cache-control',
  'content-encoding',
  'content-language',
  'content-type',
  'openai-beta',
  'user-agent',
]);
const MASK = '*****';

/** Headers as administrators see them: values that may be credentials are masked. */
const maskedHeaders = (headers: Headers): Headers =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, SHOWN.has(name.toLowerCase()) ? value : MASK]),
  );

/** Headers of a pass-through endpoint as administrators see them; none where they cannot be decrypted. */
export const shownHeaders = (headers: Readonly<Record<string, Secret>> | null): Headers =>
  maskedHeaders(Object.fromEntries(Object.entries(headers ?? {}).map(([name, value]) => [name, value.reveal()])));

/** New headers in which a masked value stands for the current one. */
export const unmaskedHeaders = (sent: Headers, current: Headers): Headers =>
  Object.fromEntries(
    Object.entries(sent).map(([name, value]) => {
      const stored = Object.hasOwn(current, name) ? current[name] : undefined;
      return [name, value === MASK ? (stored ?? '') : value];
    }),
  );

/** Whether a masked value stands for a current one. */
export const hasMaskedHeader = (headers: Headers): boolean => Object.values(headers).includes(MASK);

/** Whether a header of a client may carry its key of the gateway. Names in lower case. */
export const mayCarryKey = (name: string): boolean =>
  name === 'authorization' || GATEWAY_KEYS.some((header) => header === name);

/** Why headers cannot be sent to a target; null when they can. */
export function headersFault(headers: Headers): string | null {
  const wrong = Object.entries(headers).find(
    ([name, value]) =>
      !TOKEN.test(name.toLowerCase()) ||
      !VALUE.test(value) ||
      name.toLowerCase() === 'content-length' ||
      HOP_BY_HOP.some((hop) => hop === name.toLowerCase()),
  );
  return wrong === undefined ? null : `must not contain the header ${JSON.stringify(wrong[0].slice(0, 100))}`;
}
