import { InvalidInput } from '../errors.ts';
import type { Answer, DecisionRequest, Media } from './decision.ts';
import type { Abilities, ImageRules } from './decider.ts';
import { byteSizeOf, imagesIn, mediaTypeOf, withImages } from './media.ts';

/** Facts of the deployment and the caller that the checks need. */
export interface FitTerms {
  readonly provider: string;
  /** Provider and model, as in `typesafe/jev-latest`. */
  readonly model: string;
  /** Whether unsupported members are dropped. When false they are refused. */
  readonly drop: boolean;
}

/** A decision with only the members that its decider accepts. */
export interface FittedDecision {
  readonly decision: DecisionRequest;
  /** Positions of the questions that are sent. The other questions get a refusal as answer. */
  readonly sent: readonly number[];
  /** Names of the unsupported members that were dropped. Single dropped images are not listed. */
  readonly dropped: readonly string[];
}

const badRequest = (text: string): InvalidInput => new InvalidInput(`litellm.BadRequestError: ${text}`);

/** Members of a decision that a decider does not accept, in the order of the reference service. */
function unsupported({ input, ...decision }: DecisionRequest, abilities: Abilities): readonly string[] {
  const { images, imagesBesideState, assets, boxes, audio, videos, safetyIdentifier } = abilities;
  const names: readonly (readonly [string, boolean])[] = [
    ['safety_identifier', decision.safetyIdentifier !== null && !safetyIdentifier],
    ['images', decision.images.length > 0 && (images === null || !imagesBesideState)],
    ['input_image', imagesIn(input).length > 0 && images === null],
    ['assets', decision.assets.length > 0 && !assets],
    ['box questions', decision.questions.some(({ kind }) => kind === 'box') && !boxes],
    ['audio', decision.audio.length > 0 && !audio],
    ['videos', decision.videos.length > 0 && !videos],
  ];
  return names.flatMap(([name, isUnsupported]) => (isUnsupported ? [name] : []));
}

/**
 * Fits a decision to its decider. If `terms.drop` is set, members that the decider does not accept are dropped;
 * otherwise InvalidInput is thrown. Also throws InvalidInput if no input or no question would be left, and for too many
 * or too large images. `isKnownUrl` tests whether the URL of an image in a message is a data URL or an http(s) address.
 */
export function fitDecision(
  decision: DecisionRequest,
  abilities: Abilities,
  terms: FitTerms,
  isKnownUrl: (url: string) => boolean,
): FittedDecision {
  const known = withoutUnknownImages(decision, terms.drop, isKnownUrl);
  const unsupportedNames = unsupported(known, abilities);
  if (unsupportedNames.length > 0 && !terms.drop) throw unsupportedError(unsupportedNames, terms);
  const drops = (name: string): boolean => unsupportedNames.includes(name);
  const input = drops('input_image') ? withImages(known.input, () => null) : known.input;
  if (drops('input_image') && isEmpty(input))
    throw badRequest(
      `${terms.provider} does not support parameters: ['input_image'], for model=${terms.model}, and dropping them leaves no input to decide on`,
    );
  const sent = known.questions.flatMap(({ kind }, index) => (drops('box questions') && kind === 'box' ? [] : [index]));
  if (sent.length === 0)
    throw badRequest(
      `${terms.provider} does not support parameters: ['box questions'], for model=${terms.model}, and dropping them leaves no questions to answer`,
    );
  const sentPositions = new Set(sent);
  const fitting: DecisionRequest = {
    input,
    questions: known.questions.filter((_question, index) => sentPositions.has(index)),
    safetyIdentifier: drops('safety_identifier') ? null : known.safetyIdentifier,
    images: drops('images') ? [] : known.images,
    assets: drops('assets') ? [] : known.assets,
    audio: drops('audio') ? [] : known.audio,
    videos: drops('videos') ? [] : known.videos,
  };
  const checked = abilities.images === null ? fitting : withImageRules(fitting, abilities.images, terms);
  return { decision: checked, sent, dropped: unsupportedNames };
}

function unsupportedError(names: readonly string[], { provider, model }: FitTerms): InvalidInput {
  const list = names.map((name) => `'${name}'`).join(', ');
  return new InvalidInput(
    `litellm.UnsupportedParamsError: ${provider} does not support parameters: [${list}], for model=${model}. Remove them from the request, or set drop_params to drop them.`,
  );
}

const isEmpty = (input: DecisionRequest['input']): boolean =>
  typeof input === 'object' && 'items' in input && input.items.length === 0;

/** Refuses or drops images of messages that are neither data URLs nor addresses. */
function withoutUnknownImages(
  decision: DecisionRequest,
  drop: boolean,
  isKnownUrl: (url: string) => boolean,
): DecisionRequest {
  const wrongCount = imagesIn(decision.input).filter((url) => !isKnownUrl(url)).length;
  if (wrongCount === 0) return decision;
  const input = withImages(decision.input, (url) => (isKnownUrl(url) ? url : null));
  if (!drop || isEmpty(input))
    throw badRequest(
      `Invalid Decisions request: ${wrongCount} input_image part(s) have an image_url that is neither a data:image/…;base64, URL nor an http(s) URL`,
    );
  return { ...decision, input };
}

/**
 * Checks types and number of the images, and their sizes where their content is known. Images of a wrong type are
 * dropped if `terms.drop` is set. Throws InvalidInput for all other faults, and if no input would be left.
 */
export function withImageRules(decision: DecisionRequest, rules: ImageRules, terms: FitTerms): DecisionRequest {
  const isAccepted = (image: Media): boolean => {
    const type = mediaTypeOf(image);
    return type === null || rules.types === null || rules.types.includes(type);
  };
  const all = [...imagesIn(decision.input), ...decision.images];
  if (all.length === 0) return decision;
  const wrong = all.filter((image) => !isAccepted(image));
  if (wrong.length > 0 && !terms.drop)
    throw badRequest(
      `${terms.provider} takes only ${rules.types?.join(', ')} images, got ${[...new Set(wrong.map(mediaTypeOf))].join(', ')}`,
    );
  const accepted = all.filter(isAccepted);
  if (rules.most !== null && accepted.length > rules.most)
    throw badRequest(`${terms.provider} takes at most ${rules.most} images per request, got ${accepted.length}`);
  assertSizes(accepted, rules, terms);
  if (wrong.length === 0) return decision;
  const input = withImages(decision.input, (url) => (isAccepted(url) ? url : null));
  if (isEmpty(input)) throw badRequest(`${terms.provider} takes none of the images, and dropping them leaves no input`);
  return { ...decision, input, images: decision.images.filter(isAccepted) };
}

const inMebibytes = (bytes: number): string => `${bytes.toLocaleString('en-US')} bytes (${bytes / 1024 / 1024} MiB)`;

function assertSizes(images: readonly Media[], rules: ImageRules, { provider }: FitTerms): void {
  const sizes = images.map((image) => byteSizeOf(image) ?? 0);
  const largest = Math.max(0, ...sizes);
  if (rules.mostBytes !== null && largest > rules.mostBytes)
    throw badRequest(
      `${provider} takes images of at most ${inMebibytes(rules.mostBytes)} each, got one of ${largest.toLocaleString('en-US')} bytes`,
    );
  const together = sizes.reduce((sum, size) => sum + size, 0);
  if (rules.mostBytesTogether !== null && together > rules.mostBytesTogether)
    throw badRequest(
      `${provider} takes images of at most ${inMebibytes(rules.mostBytesTogether)} together, got ${together.toLocaleString('en-US')} bytes`,
    );
}

/** Answers to all questions: `answers` at the positions of the sent questions, refusals at the other positions. */
export function answersToAll(count: number, { sent }: FittedDecision, answers: readonly Answer[]): readonly Answer[] {
  const bySent = new Map(sent.map((position, index) => [position, answers[index]]));
  return Array.from({ length: count }, (_unused, position) => bySent.get(position) ?? { kind: 'refusal' });
}
