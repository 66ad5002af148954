import { isJsonObject } from '../../domain/json-object.ts';
import type { Deployment } from '../../domain/chat/provider.ts';
import type { ModelRequest } from '../../domain/chat/chat.ts';
import type { Abilities, Decider, DecisionTerms } from '../../domain/decisions/decider.ts';
import type { Decision, DecisionRequest } from '../../domain/decisions/decision.ts';
import { type FitTerms, withImageRules } from '../../domain/decisions/fit.ts';
import { splitDecision, joinDecisions } from '../../domain/decisions/groups.ts';
import { imagesIn } from '../../domain/decisions/media.ts';
import { UpstreamFailed } from '../../domain/errors.ts';
import type { HttpClient } from '../../domain/http.ts';
import { chargedOf, errorOf } from '../../wire/chat-completions/answer.ts';
import { InvalidAnswer } from '../../wire/decisions/faults.ts';
import { readNamedMapAnswer } from '../../wire/decisions/named-map-answer.ts';
import { writeNamedMap } from '../../wire/decisions/named-map-request.ts';
import { readStandardAnswer } from '../../wire/decisions/standard-answer.ts';
import { writeStandard } from '../../wire/decisions/standard-request.ts';
import { parseJson } from '../../wire/json/fields.ts';
import { unusableAnswer } from '../failures.ts';
import { readBody, sendCall } from '../upstream-answer.ts';
import { createImageInliner } from './inline-images.ts';
import { inParallel } from '../../domain/in-parallel.ts';
import type { DecisionVendor } from './vendors.ts';

/** Maximum bytes of an answer. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;
/** Maximum concurrent calls of one decision. */
const CONCURRENCY = 8;
/** Placeholder in configurations of servers without a key. It is not sent. */
const PLACEHOLDER_KEY = 'fake-api-key';
/** Headers that neither a deployment nor a caller may set: credentials, and headers of the connection. */
const RESERVED_HEADERS =
  /^(authorization|content-type|content-length|host|connection|transfer-encoding|cookie|te|upgrade|api-key|x-api-key|expect|proxy-.*)$/i;
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e]*$/;

/** Creates the decider for the decision models of one vendor. */
export function createNativeDecider(http: HttpClient, vendor: DecisionVendor): Decider {
  const inlineImages = createImageInliner(http);
  const abilitiesOf = (deployment: Deployment, request: ModelRequest): Abilities => ({
    safetyIdentifier: false,
    images: null,
    imagesBesideState: false,
    assets: false,
    boxes: false,
    audio: false,
    videos: false,
    ...vendor.abilities?.(deployment, request),
    ...configuredAbilities(deployment),
  });
  return {
    abilities: abilitiesOf,
    assertCallable(deployment) {
      // `url` throws for a deployment that cannot be called.
      vendor.url(deployment);
      if (keyOf(deployment) === null && !vendor.keyOptional)
        throw new UpstreamFailed(
          `litellm.AuthenticationError: Missing API key for Decisions provider '${deployment.provider}'`,
          { provider: deployment.provider, upstreamStatus: 401 },
        );
    },
    async decide(deployment, decision, terms) {
      const { images } = abilitiesOf(deployment, terms.request);
      const fit = fitTermsOf(deployment, terms.request);
      const fitted = images?.inline
        ? withImageRules(await inlineImages(decision, images, terms), images, fit)
        : decision;
      const groups = splitDecision(fitted, deployment.mostQuestions ?? vendor.mostQuestions ?? null);
      const decisions = await inParallel(groups, CONCURRENCY, async (group, index) => {
        const groupDecision = await askVendor(deployment, group, terms);
        // All groups except the last have as many questions as the first.
        const groupStart = index * (groups[0]?.questions.length ?? 0);
        for (const [offset, answer] of groupDecision.answers.entries()) terms.answered?.(groupStart + offset, answer);
        return groupDecision;
      });
      return joinDecisions(decisions);
    },
  };

  async function askVendor(
    deployment: Deployment,
    decision: DecisionRequest,
    { request, signal }: DecisionTerms,
  ): Promise<Decision> {
    const call = {
      url: vendor.url(deployment),
      headers: headersOf(deployment, request),
      body: Buffer.from(await bodyOf(vendor, deployment, decision)),
    };
    const answer = await sendCall(http, deployment, call, { signal, errorOf, owner: request.owner });
    const bytes = await readBody(deployment, answer, MAX_ANSWER_BYTES);
    const value = bytes === null ? undefined : parseJson(bytes);
    if (value === undefined) throw unusableAnswer(deployment, 'APIConnectionError', 'The answer is not JSON.');
    return readAnswer(vendor, deployment, decision, value);
  }
}

/** Abilities that the `decides` setting of a deployment adds. */
const configuredAbilities = ({ decides }: Deployment): Partial<Abilities> =>
  decides === undefined
    ? {}
    : {
        ...(decides.boxes ? { boxes: true } : {}),
        ...(decides.audio ? { audio: true } : {}),
        ...(decides.videos ? { videos: true } : {}),
      };

function keyOf({ apiKey }: Deployment): string | null {
  const key = apiKey?.reveal() ?? '';
  return key === '' || key === PLACEHOLDER_KEY ? null : key;
}

/** Headers of a call: those of the deployment, the caller's own, then the credential. */
function headersOf(deployment: Deployment, request: ModelRequest): Readonly<Record<string, string>> {
  const extraHeaders = request.body['extra_headers'];
  const extra = Object.entries({
    ...deployment.headers,
    ...(isJsonObject(extraHeaders) ? extraHeaders : {}),
    ...request.forwarded,
  });
  const key = keyOf(deployment);
  return {
    ...Object.fromEntries(
      extra.flatMap(([name, value]): [string, string][] =>
        isSendable(name, value) ? [[name.toLowerCase(), value]] : [],
      ),
    ),
    ...(key === null ? {} : { authorization: `Bearer ${key}` }),
    'content-type': 'application/json',
  };
}

const isSendable = (name: string, value: unknown): value is string =>
  HEADER_NAME.test(name) && !RESERVED_HEADERS.test(name) && typeof value === 'string' && HEADER_VALUE.test(value);

async function bodyOf(vendor: DecisionVendor, deployment: Deployment, decision: DecisionRequest): Promise<string> {
  const { upstreamModel } = deployment;
  if (vendor.format === 'standard') return JSON.stringify(writeStandard(decision, upstreamModel));
  const urls = imagesIn(decision.input);
  const converted = urls.length === 0 ? undefined : await vendor.images?.(urls);
  const images = converted ?? { textOf: () => null, members: {} };
  return writeNamedMap(decision, vendor.model === undefined ? upstreamModel : vendor.model(deployment), images);
}

/** Reads an answer. Throws UpstreamFailed for an answer that violates its format. */
function readAnswer(
  vendor: DecisionVendor,
  deployment: Deployment,
  { questions }: DecisionRequest,
  value: unknown,
): Decision {
  const unwrapped = vendor.unwrapAnswer?.(value, deployment) ?? value;
  try {
    if (vendor.format === 'standard') return readStandardAnswer(unwrapped, questions);
    const decision = readNamedMapAnswer(unwrapped, questions);
    const charged = vendor.reportsCost === true ? chargedOf(unwrapped) : undefined;
    return charged === undefined ? decision : { ...decision, charged };
  } catch (fault) {
    if (!(fault instanceof InvalidAnswer)) throw fault;
    throw unusableAnswer(
      deployment,
      'InternalServerError',
      `Decisions provider '${deployment.provider}' returned an unexpected response: ${fault.message}.`,
    );
  }
}

/** Provider, model and `drop_params` of a call, for the checks of a decision. */
export const fitTermsOf = ({ provider, upstreamModel, dropParams }: Deployment, { body }: ModelRequest): FitTerms => ({
  provider,
  model: `${provider}/${upstreamModel}`,
  drop: dropParams || body['drop_params'] === true,
});
