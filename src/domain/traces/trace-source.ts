import { firstValue } from './conventions/convention.ts';
import { type Attributes, type RawSpan, SOURCE_TYPES, type TraceSource } from './span.ts';
import { truncateText } from './truncate.ts';

const PREFIX = 'litellm.source.';
const MOST_BYTES = 2_048;

/**
 * Source of the run of a root, by its own attributes or those of its resource; null for other spans, for an
 * unknown type, and for an invalid address or one that is not `https`.
 */
export function sourceOf({ parentSpanId, attributes, resource }: RawSpan): TraceSource | null {
  if (parentSpanId !== null) return null;
  return sourceIn(attributes) ?? sourceIn(resource.attributes);
}

function sourceIn(attributes: Attributes): TraceSource | null {
  if (attributes[`${PREFIX}type`] === undefined) return null;
  const at = (name: string): string | null => firstValue(attributes, [`${PREFIX}${name}`]);
  const given = at('type');
  const type = SOURCE_TYPES.find((known) => known === given);
  const url = at('url') ?? '';
  if (type === undefined || url.length > MOST_BYTES || !isHttps(url)) return null;
  const title = truncateText(at('title') ?? '', MOST_BYTES);
  const user = at('user');
  return { type, url, title, user: user === null ? null : truncateText(user, MOST_BYTES) };
}

const isHttps = (url: string): boolean => URL.canParse(url) && new URL(url).protocol === 'https:';
