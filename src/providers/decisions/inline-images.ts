import { collect } from '../../domain/bytes.ts';
import type { DecisionTerms, ImageRules } from '../../domain/decisions/decider.ts';
import type { DecisionRequest, Media } from '../../domain/decisions/decision.ts';
import { imagesIn, mediaTypeOf, withImages } from '../../domain/decisions/media.ts';
import { InvalidInput } from '../../domain/errors.ts';
import { type HttpClient, HttpFailure } from '../../domain/http.ts';

/** Deadline for the response headers of an image, in ms. */
const HEADERS_TIMEOUT_MS = 10_000;
/** Deadline for a complete image, in ms. The caller chooses the server, which may send without end. */
const IMAGE_DEADLINE_MS = 60_000;
/** Maximum bytes of an image, for a vendor without a limit. */
const DEFAULT_MAX_BYTES = 20 * 1024 * 1024;

/**
 * Maximum characters of the data URLs of all downloaded images of one decision. An image counts as often as the
 * decision contains it.
 */
const MAX_TOTAL_LENGTH = 64 * 1024 * 1024;

/**
 * Creates the function that replaces images at addresses with data URLs. Addresses come from callers: private ones are
 * refused, and redirects are not followed. `deadlineMs` is the deadline of one image. Throws InvalidInput for an image
 * that cannot be read, and when all data URLs together are longer than `MAX_TOTAL_LENGTH`.
 */
export function createImageInliner(
  http: HttpClient,
  deadlineMs = IMAGE_DEADLINE_MS,
): (decision: DecisionRequest, rules: ImageRules, terms: DecisionTerms) => Promise<DecisionRequest> {
  async function download(url: string, limit: number, { request, signal }: DecisionTerms): Promise<string> {
    const deadline = AbortSignal.timeout(deadlineMs);
    const combined = AbortSignal.any([signal, deadline]);
    try {
      const options = {
        signal: combined,
        headersTimeoutMs: HEADERS_TIMEOUT_MS,
        owner: request.owner ?? '',
        chosenByCaller: true,
      };
      const answer = await http.send('GET', url, { accept: 'image/*' }, [], options);
      const bytes = answer.status === 200 ? await collect(answer.body, limit) : null;
      if (answer.status !== 200) answer.body.cancel();
      const [type = ''] = (answer.headers['content-type'] ?? '').split(';');
      if (bytes !== null && type.trim().toLowerCase().startsWith('image/'))
        return `data:${type.trim().toLowerCase()};base64,${Buffer.from(bytes).toString('base64')}`;
    } catch (error) {
      const isTimeout = deadline.aborted && !signal.aborted;
      if (!isTimeout && !(error instanceof HttpFailure)) throw error;
    }
    throw fetchFailure();
  }

  return async (decision, rules, terms) => {
    const urls = [...imagesIn(decision.input), ...decision.images].filter(
      (image): image is string => typeof image === 'string' && mediaTypeOf(image) === null,
    );
    if (urls.length === 0) return decision;
    const limit = rules.mostBytes ?? DEFAULT_MAX_BYTES;
    const dataUrls = new Map<string, string>();
    let totalLength = 0;
    for (const [url, occurrences] of Map.groupBy(urls, (one) => one)) {
      const dataUrl = await download(url, limit, terms);
      totalLength += dataUrl.length * occurrences.length;
      if (totalLength > MAX_TOTAL_LENGTH) throw imagesTooLarge();
      dataUrls.set(url, dataUrl);
    }
    const inlineImage = (image: Media): Media => (typeof image === 'string' ? (dataUrls.get(image) ?? image) : image);
    return {
      ...decision,
      input: withImages(decision.input, (url) => dataUrls.get(url) ?? url),
      images: decision.images.map(inlineImage),
    };
  };
}

/**
 * Error for an image that cannot be read. One message for all reasons, so that it does not reveal what is at an
 * address.
 */
const fetchFailure = (): InvalidInput =>
  new InvalidInput(
    'litellm.BadRequestError: Error: Unable to fetch image from URL. It must be a public http(s) address that answers with an image.',
  );

const imagesTooLarge = (): InvalidInput =>
  new InvalidInput(
    `litellm.BadRequestError: The images of this request are too large: images given by URL may have at most ${MAX_TOTAL_LENGTH} bytes together in base64.`,
  );
