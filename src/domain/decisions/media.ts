import type { DecisionInput, Item, Media, Part } from './decision.ts';

/** Media type of an image, lower-case; null for an image at an address. */
export function mediaTypeOf(media: Media): string | null {
  if (typeof media !== 'string') return media.contentType.toLowerCase();
  const [, type] = /^data:([^;,]+)/i.exec(media) ?? [];
  return type === undefined ? null : type.toLowerCase();
}

/** Size of an image in bytes, by the length of its base64 text; null for an image at an address. */
export function byteSizeOf(media: Media): number | null {
  if (typeof media === 'string' && mediaTypeOf(media) === null) return null;
  const content = typeof media === 'string' ? media.slice(media.indexOf(',') + 1) : media.base64;
  return Math.floor((content.replace(/=+$/, '').length * 3) / 4);
}

/**
 * The input with each image of its messages replaced by the result of `change`. Where that is null, the image is
 * removed. A message that had only removed images is removed, too.
 */
export function withImages(input: DecisionInput, change: (url: string) => string | null): DecisionInput {
  if (typeof input === 'string' || !('items' in input)) return input;
  return {
    items: input.items.flatMap((item): readonly Item[] => {
      const { content } = item;
      if (typeof content === 'string') return [item];
      const parts = content.flatMap((part): readonly Part[] => {
        if (part.kind !== 'image') return [part];
        const url = change(part.url);
        return url === null ? [] : [{ ...part, url, sent: { ...part.sent, image_url: url } }];
      });
      return parts.length === 0 && content.length > 0 ? [] : [{ ...item, content: parts }];
    }),
  };
}

/** Images of the messages of an input, in order. */
export function imagesIn(input: DecisionInput): readonly string[] {
  if (typeof input === 'string' || !('items' in input)) return [];
  return input.items.flatMap(({ content }) =>
    typeof content === 'string' ? [] : content.flatMap((part) => (part.kind === 'image' ? [part.url] : [])),
  );
}
