import type { Source } from '../domain/chat/neutral-chat.ts';

const DATA_URL = /^data:([^;,]*)(?:;[^;,]*)*?;base64,/i;

/** Where bytes are, by an address that may hold them itself. */
export function sourceOf(url: string, mediaType: string | null = null): Source {
  const head = DATA_URL.exec(url);
  if (head === null) return { form: 'url', url, mediaType };
  return {
    form: 'data',
    mediaType: head[1] || mediaType || 'application/octet-stream',
    base64: url.slice(head[0].length),
  };
}

/** The address of bytes; a data URL where they are at hand. Null for an uploaded file. */
export function addressOf(source: Source): string | null {
  if (source.form === 'data') return `data:${source.mediaType};base64,${source.base64}`;
  return source.form === 'url' ? source.url : null;
}
