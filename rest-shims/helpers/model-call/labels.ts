import { isJsonObject } from '../../../src/domain/json-object.ts';
import { callLabels } from '../../../src/domain/calls/call-labels.ts';
import type { ModelRequest } from '../../../src/domain/chat/chat.ts';
import { InvalidInput } from '../../../src/domain/errors.ts';
import { invalidType, type RequestBody } from '../../../src/domain/inference/request-validation.ts';
import { type Dialect, type Endpoint, MESSAGES } from '../../../src/domain/inference/endpoint.ts';
import { type Fields, list, object, parseJson, text } from '../../../src/wire/json/fields.ts';
import type { HttpRequest } from '../http/route.ts';

type WithHeaders = Pick<HttpRequest, 'headers'>;

/** Dialects in which `metadata` is for the provider, and the labels are in `litellm_metadata`. */
const PROVIDER_METADATA = new Set<Dialect | null>(['messages', 'responses', 'generate-content']);

/** Members of `metadata` that are labels of their own. All other members are free metadata. */
const LABEL_MEMBERS = new Set(['tags', 'spend_logs_metadata', 'session_id', 'trace_id']);

const REDACTION = 'x-litellm-enable-message-redaction';
const SPEND_METADATA = 'x-litellm-spend-logs-metadata';

/**
 * Labels of a call: session, end user, tags and free metadata; `omitContent` if its texts must not be recorded. Throws
 * InvalidInput.
 */
export function labelsOf(
  request: WithHeaders,
  { endpoint, body }: { readonly endpoint: Endpoint; readonly body: RequestBody },
): Pick<ModelRequest, 'labels' | 'omitContent'> {
  const { metadata, gatewayMetadata } = metadataIn(body, endpoint);
  const freeMetadata = Object.fromEntries(
    Object.entries(gatewayMetadata).filter(([member]) => !LABEL_MEMBERS.has(member)),
  );
  const labels = callLabels({
    session:
      header(request, 'x-litellm-session-id') ??
      header(request, 'x-litellm-trace-id') ??
      text(gatewayMetadata['session_id']) ??
      text(gatewayMetadata['trace_id']),
    endUser:
      header(request, 'x-litellm-customer-id') ??
      header(request, 'x-litellm-end-user-id') ??
      text(body['user']) ??
      text(metadata['user_id']),
    tags: [
      ...headerTags(request),
      ...bodyTags(body, endpoint),
      ...list(gatewayMetadata['tags']).filter(isNonEmptyText),
    ],
    metadata: {
      ...freeMetadata,
      ...object(gatewayMetadata['spend_logs_metadata']),
      ...headerSpendMetadata(request, endpoint),
    },
  });
  const isRedacted = /^(true|1)$/i.test(header(request, REDACTION) ?? '');
  return { ...(labels === undefined ? {} : { labels }), ...(isRedacted ? { omitContent: true } : {}) };
}

/** Endpoint of forwarded calls. As in Messages, `metadata` is for the target. */
const FORWARDED = { ...MESSAGES, path: '/pass-through' } as const;

/** Labels of a call whose body is for the target: from headers, `litellm_metadata` and `tags`. Throws InvalidInput. */
export function gatewayLabels(
  request: WithHeaders,
  body: RequestBody,
  path: Endpoint['path'] = FORWARDED.path,
): Pick<ModelRequest, 'labels'> {
  const gatewayMembers = Object.fromEntries(
    ['litellm_metadata', 'tags'].flatMap((name) => (Object.hasOwn(body, name) ? [[name, body[name]]] : [])),
  );
  const { labels } = labelsOf(request, { endpoint: { ...FORWARDED, path }, body: gatewayMembers });
  return labels === undefined ? {} : { labels };
}

/** `metadata` as sent, and the metadata for the gateway. Throws InvalidInput. */
function metadataIn(
  body: RequestBody,
  endpoint: Endpoint,
): { readonly metadata: Fields; readonly gatewayMetadata: Fields } {
  const input = body['litellm_metadata'] ?? {};
  if (!isJsonObject(input)) throw invalidType('litellm_metadata', 'an object', endpoint);
  const metadata = object(body['metadata']);
  return { metadata, gatewayMetadata: PROVIDER_METADATA.has(endpoint.dialect) ? input : { ...metadata, ...input } };
}

const isNonEmptyText = (value: unknown): value is string => typeof value === 'string' && value !== '';

function bodyTags(body: RequestBody, endpoint: Endpoint): readonly string[] {
  const tags = body['tags'] ?? [];
  if (Array.isArray(tags) && tags.every((tag) => typeof tag === 'string')) return tags.filter(isNonEmptyText);
  throw invalidType('tags', 'an array of strings', endpoint);
}

const headerTags = (request: WithHeaders): readonly string[] =>
  (header(request, 'x-litellm-tags') ?? '').split(',').flatMap((tag) => (tag.trim() === '' ? [] : [tag.trim()]));

function headerSpendMetadata(request: WithHeaders, { path }: Endpoint): Fields {
  const input = header(request, SPEND_METADATA);
  if (input === null) return {};
  // Node decodes headers as Latin-1, but senders write UTF-8.
  const value = parseJson(Buffer.from(input, 'latin1'));
  if (isJsonObject(value)) return value;
  const message = `${path}: Invalid value for header '${SPEND_METADATA}': it must be a JSON object.`;
  throw new InvalidInput(message, [{ path: ['header', SPEND_METADATA], rule: 'value', message }]);
}

function header({ headers }: WithHeaders, name: string): string | null {
  const input = headers[name];
  return isNonEmptyText(input) ? input : null;
}
