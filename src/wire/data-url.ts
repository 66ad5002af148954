import type { Source } from '../domain/chat/neutral-chat.ts';

const DATA_URL = /^data:([^;,]*)(?:;[^;,]*)*?;base64,/i;

/**
 * Source for an address. A base64 data URL becomes inline data. Its media type falls back to `mediaType`, then to
 * `application/octet-stream`. Any other address is a URL source.
 */
export function sourceOf(url: string, mediaType: string | null = null): Source {
  const head = DATA_URL.exec(url);
  if (head === null) return { form: 'url', url, mediaType };
  return {
    form: 'data',
    mediaType: head[1] || mediaType || 'application/octet-stream',
    base64: url.slice(head[0].length),
  };
}

/** Address of a source: a data URL for inline bytes. Null for an uploaded file, which has only an id. */
export function addressOf(source: Source): string | null {
  if (source.form === 'data') return `data:${source.mediaType};base64,${source.base64}`;
  return source.form === 'url' ? source.url : null;
}
