import { collect } from '../../domain/bytes.ts';
import type { Deployment } from '../../domain/chat/provider.ts';
import type { DecisionTerms, ImageRules } from '../../domain/decisions/decider.ts';
import type { DecisionRequest, Media } from '../../domain/decisions/decision.ts';
import { imagesIn, mediaTypeOf, withImages } from '../../domain/decisions/media.ts';
import { InvalidInput } from '../../domain/errors.ts';
import { type HttpClient, HttpFailure } from '../../domain/http.ts';

/** Deadline for the head of an image's answer, in ms. */
const HEAD_MS = 10_000;
/** Deadline for a whole image, in ms. The server is chosen by the caller and may send it slowly without end. */
const WHOLE_MS = 60_000;
/** Most bytes of an image where its vendor sets no limit. */
const MOST_BYTES = 20 * 1024 * 1024;

/** Terms of a call, and its deployment. */
type InlineTerms = DecisionTerms & { readonly deployment: Deployment };

/**
 * Creates the function that replaces images at addresses by their content. Addresses come from callers: private ones are
 * refused, and redirects are not followed. `wholeMs` is the deadline of one image. Throws InvalidInput for an image that
 * cannot be read.
 */
export function createImageInliner(
  http: HttpClient,
  wholeMs = WHOLE_MS,
): (decision: DecisionRequest, rules: ImageRules, terms: InlineTerms) => Promise<DecisionRequest> {
  async function download(url: string, limit: number, { request, signal }: InlineTerms): Promise<string> {
    const deadline = AbortSignal.timeout(wholeMs);
    const either = AbortSignal.any([signal, deadline]);
    try {
      const options = { signal: either, headersTimeoutMs: HEAD_MS, owner: request.owner ?? '', chosenByCaller: true };
      const answer = await http.send('GET', url, { accept: 'image/*' }, [], options);
      const bytes = answer.status === 200 ? await collect(answer.body, limit) : null;
      if (answer.status !== 200) answer.body.cancel();
      const [type = ''] = (answer.headers['content-type'] ?? '').split(';');
      if (bytes !== null && type.trim().toLowerCase().startsWith('image/'))
        return `data:${type.trim().toLowerCase()};base64,${Buffer.from(bytes).toString('base64')}`;
    } catch (error) {
      const isLate = deadline.aborted && !signal.aborted;
      if (!isLate && !(error instanceof HttpFailure)) throw error;
    }
    throw unfetched();
  }

  return async (decision, rules, terms) => {
    const urls = [...imagesIn(decision.input), ...decision.images].filter(
      (image): image is string => typeof image === 'string' && mediaTypeOf(image) === null,
    );
    if (urls.length === 0) return decision;
    const limit = rules.mostBytes ?? MOST_BYTES;
    const found = new Map<string, string>();
    for (const url of new Set(urls)) found.set(url, await download(url, limit, terms));
    const inlined = (image: Media): Media => (typeof image === 'string' ? (found.get(image) ?? image) : image);
    return {
      ...decision,
      input: withImages(decision.input, (url) => found.get(url) ?? url),
      images: decision.images.map(inlined),
    };
  };
}

/** One text for every reason, so that it does not reveal what is at an address. */
const unfetched = (): InvalidInput =>
  new InvalidInput(
    'litellm.BadRequestError: Error: Unable to fetch image from URL. It must be a public http(s) address that answers with an image.',
  );
