import type { getModel } from '../../../resolvers/models.ts';
import type { HttpRequest } from '../http/route.ts';
import { invalidParameter } from '../http/query.ts';

type NamedModel = ReturnType<typeof getModel>;

/** Default and maximum number of models on a page. */
const DEFAULT_PAGE_SIZE = 50;
const MAX_PAGE_SIZE = 1_000;

/** Modes of models that no method of this API serves. */
const OTHER_MODES = new Set([
  'audio_speech',
  'audio_transcription',
  'image_edit',
  'image_generation',
  'moderation',
  'ocr',
  'rerank',
  'video_generation',
]);

/** A model in Google's format. Limits that the catalog does not have are left out. */
export function generateContentModel({ name, entry }: NamedModel) {
  const limit = (member: string, column: string) => {
    const value = entry?.row[column];
    return typeof value === 'number' ? { [member]: value } : {};
  };
  return {
    name: `models/${name}`,
    version: '001',
    displayName: name,
    ...limit('inputTokenLimit', 'max_input_tokens'),
    ...limit('outputTokenLimit', 'max_output_tokens'),
    supportedGenerationMethods: supportedMethods(entry?.mode ?? ''),
  };
}

function supportedMethods(mode: string): readonly string[] {
  if (mode === 'embedding') return ['embedContent', 'batchEmbedContents'];
  return OTHER_MODES.has(mode) ? [] : ['generateContent', 'countTokens'];
}

interface Page {
  readonly size: number;
  /** Name of the last model of the previous page; null for the first page. */
  readonly after: string | null;
}

function parsePage({ search }: HttpRequest): Page {
  const query = new URLSearchParams(search);
  const input = query.get('pageSize') ?? query.get('page_size') ?? '';
  if (!/^\d{0,9}$/.test(input)) throw invalidParameter('/models', 'pageSize', 'a whole number');
  const token = query.get('pageToken') ?? query.get('page_token') ?? '';
  return {
    // Zero and an empty text request the default size.
    size: Math.min(Number(input) || DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE),
    after: token === '' ? null : Buffer.from(token, 'base64url').toString('utf8'),
  };
}

/** Index of the first model of a page. Throws InvalidInput if `after` names no model. */
function pageStart(models: readonly NamedModel[], after: string | null): number {
  if (after === null) return 0;
  const previous = models.findIndex(({ name }) => name === after);
  if (previous === -1) throw invalidParameter('/models', 'pageToken', 'one that a list returned');
  return previous + 1;
}

/**
 * A page of models in Google's format. Throws InvalidInput for an invalid page size, and for a token that names no
 * model.
 */
export function generateContentModelList(models: readonly NamedModel[], request: HttpRequest) {
  const { size, after } = parsePage(request);
  const start = pageStart(models, after);
  const page = models.slice(start, start + size);
  const last = page.at(-1);
  const hasMore = last !== undefined && start + size < models.length;
  return {
    models: page.map(generateContentModel),
    ...(hasMore ? { nextPageToken: Buffer.from(last.name).toString('base64url') } : {}),
  };
}
