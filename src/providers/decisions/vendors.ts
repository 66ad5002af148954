import { isJsonObject } from '../../domain/json-object.ts';
import type { ModelRequest } from '../../domain/chat/chat.ts';
import type { Deployment } from '../../domain/chat/provider.ts';
import { vendorOf } from '../../domain/chat/vendors.ts';
import type { Abilities, ImageRules } from '../../domain/decisions/decider.ts';
import type { DecisionFormat, Members } from '../../domain/decisions/decision.ts';
import { type DeciderName } from '../../domain/decisions/providers.ts';
import { InvalidInput } from '../../domain/errors.ts';
import type { ImagesInState } from '../../wire/decisions/named-map-request.ts';
import { object } from '../../wire/json/fields.ts';

/** Protocol of the decision models of one vendor. */
export interface DecisionVendor {
  readonly format: DecisionFormat;
  /** Whether a deployment may have no API key. */
  readonly keyOptional: boolean;
  /** Address of a call. Throws InvalidInput for a deployment that cannot be called. */
  url(deployment: Deployment): string;
  /**
   * Returns the model name for the body, or null to send none. When this function is absent, the configured name is
   * sent.
   */
  readonly model?: (deployment: Deployment) => string | null;
  /** Abilities of the vendor's models. None when absent. */
  readonly abilities?: (deployment: Deployment, request: ModelRequest) => Partial<Abilities>;
  /** Converts images in messages to the named-map format. When this function is absent, these images are omitted. */
  readonly images?: (urls: readonly string[]) => ImagesInState | Promise<ImagesInState>;
  /** Removes the vendor's envelope from an answer. */
  readonly unwrapAnswer?: (answer: unknown, deployment: Deployment) => unknown;
  /** Maximum number of questions of one call; no limit when absent. A decision with more is sent as several calls. */
  readonly mostQuestions?: number;
  /** Whether the cost in the usage is what the vendor bills. */
  readonly reportsCost?: true;
}

/** Error for a deployment that cannot be called. */
const badRequest = (text: string): InvalidInput => new InvalidInput(`litellm.BadRequestError: ${text}`);

/** Base URL of the deployment or its vendor, without a trailing `/v1`. Null when neither has one. */
function baseUrlOf({ apiBase, provider }: Deployment): string | null {
  const base = apiBase ?? vendorOf(provider)?.base ?? null;
  return base === null ? null : base.replace(/\/+$/, '').replace(/\/v1$/, '');
}

/** Creates the `url` function of a vendor with a fixed path. */
const pathUrl =
  (path: string) =>
  (deployment: Deployment): string => {
    const base = baseUrlOf(deployment);
    if (base === null) throw badRequest(`api_base is required for Decisions provider '${deployment.provider}'`);
    return `${base}${path}`;
  };

/** A vendor with the named-map format at this path. `overrides` replaces members. */
const namedMapVendor = (path: string, overrides: Partial<DecisionVendor> = {}): DecisionVendor => ({
  format: 'named-map',
  keyOptional: false,
  url: pathUrl(path),
  ...overrides,
});

/** Header of a caller or a deployment that enables images, assets and boxes at TypeSafe. */
const TYPESAFE_IMAGES = 'typesafe-danger-zone-images';
/** Models of TypeSafe with box questions. */
const TYPESAFE_BOXES = new Set(['jev-1.14.0', 'jev-preview']);
const TYPESAFE_RULES: ImageRules = {
  types: ['image/jpeg', 'image/jpg', 'image/png'],
  most: null,
  mostBytes: null,
  mostBytesTogether: null,
  inline: true,
};

const MEBIBYTE = 1024 * 1024;
const CLOUDFLARE_RULES: ImageRules = {
  types: ['image/jpeg', 'image/jpg', 'image/png', 'image/webp'],
  most: 4,
  mostBytes: 4 * MEBIBYTE,
  mostBytesTogether: 8 * MEBIBYTE,
  inline: true,
};
/** Prefix of model names that the configuration may omit. */
const CLOUDFLARE_PREFIX = '@cf/cloudflare/';
/**
 * Valid model names. Callers choose the names of a deployment with a wildcard. A name becomes part of the path, so `..`
 * is not allowed.
 */
const CLOUDFLARE_MODEL = /^@cf(\/[A-Za-z0-9_-][A-Za-z0-9._-]*)+$/;
/** End of the name of the Cloudflare model with audio and video input. */
const CLOUDFLARE_OMNI = 'clef-omni';

/** Images of any type and number. They are not downloaded. */
const ANY_IMAGES: ImageRules = { types: null, most: null, mostBytes: null, mostBytesTogether: null, inline: false };

const openAi: DecisionVendor = {
  format: 'standard',
  keyOptional: false,
  url: pathUrl('/v1/decisions'),
  abilities: () => ({ safetyIdentifier: true, images: ANY_IMAGES, imagesBesideState: true }),
};

/**
 * Parts of a data URL: media type in lower case, content in the standard base64 alphabet. `url` has the media type in
 * lower case, too, but its content keeps the received alphabet.
 */
function dataUrlParts(url: string): { readonly type: string; readonly base64: string; readonly url: string } {
  const [, type = '', base64 = ''] = /^data:([^;,]+)[^,]*,(.*)$/is.exec(url) ?? [];
  const standard = base64.replaceAll('-', '+').replaceAll('_', '/');
  return { type: type.toLowerCase(), base64: standard, url: `data:${type.toLowerCase()};base64,${base64}` };
}

/** Asset name of an image in a message. Equal URLs have equal names. */
async function assetName(url: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(url));
  return `image-${Buffer.from(digest).toString('hex').slice(0, 32)}`;
}

const typesafe = namedMapVendor('/v1/systemone', {
  abilities({ headers = {}, upstreamModel }, { forwarded = {} }) {
    const allHeaders = Object.entries({ ...headers, ...forwarded });
    const acceptsImages = allHeaders.some(
      ([name, value]) => name.toLowerCase() === TYPESAFE_IMAGES && value.trim().toLowerCase() === 'true',
    );
    if (!acceptsImages) return {};
    return { images: TYPESAFE_RULES, assets: true, boxes: TYPESAFE_BOXES.has(upstreamModel) };
  },
  async images(urls) {
    const names = new Map<string, string>();
    for (const url of urls) names.set(url, await assetName(url));
    const assets = [...names].map(([url, name]): [string, Members] => {
      const { type, base64 } = dataUrlParts(url);
      return [name, { type: 'image', format: type.slice('image/'.length), data_base64: base64 }];
    });
    return { textOf: (url) => names.get(url) ?? null, members: { assets: Object.fromEntries(assets) } };
  },
});

const cloudflare: DecisionVendor = namedMapVendor('', {
  url(deployment) {
    const { apiBase, options, upstreamModel } = deployment;
    const account = options['account_id'];
    const base = apiBase ?? (account === undefined ? null : `https://api.cloudflare.com/client/v4/accounts/${account}`);
    if (base === null)
      throw badRequest('Missing CLOUDFLARE_ACCOUNT_ID: set CLOUDFLARE_ACCOUNT_ID or the api_base of the model');
    const model = upstreamModel.startsWith('@cf/') ? upstreamModel : `${CLOUDFLARE_PREFIX}${upstreamModel}`;
    if (!CLOUDFLARE_MODEL.test(model))
      throw badRequest(
        `Cloudflare model name '${upstreamModel}' must have letters, digits, '-', '_', '.' and '/' only, and no part that begins with '.'`,
      );
    return `${base.replace(/\/+$/, '').replace(/\/ai\/(v1|run)$/, '')}/ai/run/${model}`;
  },
  model: ({ upstreamModel }) => upstreamModel.slice(upstreamModel.lastIndexOf('/') + 1),
  abilities({ upstreamModel }) {
    const isOmni = upstreamModel.endsWith(CLOUDFLARE_OMNI);
    return { images: CLOUDFLARE_RULES, imagesBesideState: true, audio: isOmni, videos: isOmni };
  },
  images: (urls) => ({ textOf: () => null, members: { images: urls.map((url) => dataUrlParts(url).url) } }),
  unwrapAnswer: (answer) => {
    const { answers, result } = object(answer);
    return answers === undefined && result !== undefined ? result : answer;
  },
});

/** Model name of the Databricks function `ai_decide`. The function has another path than a serving endpoint. */
const AI_DECIDE = 'ai_decide';
const isAiDecide = ({ upstreamModel }: Deployment): boolean => upstreamModel === AI_DECIDE;

const databricks = namedMapVendor('', {
  url(deployment) {
    const { upstreamModel, provider } = deployment;
    const base = baseUrlOf(deployment);
    if (!/^[A-Za-z0-9_-][A-Za-z0-9._-]*$/.test(upstreamModel))
      throw badRequest(
        `Databricks serving endpoint name '${upstreamModel}' must have letters, digits, '-', '_' and '.' only, and not begin with '.'`,
      );
    if (base === null) throw badRequest(`Missing DATABRICKS_API_BASE: set it or the api_base of the ${provider} model`);
    if (isAiDecide(deployment)) return `${base.replace(/\/serving-endpoints$/, '')}/api/2.0/ai-functions/ai-decide`;
    return `${base}/${upstreamModel}/invocations`;
  },
  model: (deployment) => (isAiDecide(deployment) ? null : deployment.upstreamModel),
  unwrapAnswer(answer, deployment) {
    if (!isAiDecide(deployment)) return answer;
    const { response, ...rest } = object(answer);
    const answers = Object.entries(object(response)).map(([name, one]) => [name, withNoulMember(one)]);
    return isJsonObject(response) ? { ...rest, answers: Object.fromEntries(answers) as Members } : answer;
  },
});

/**
 * Converts an answer of `ai_decide` to the named-map format, which names the member `noul` instead of `probability`.
 */
function withNoulMember(answer: unknown): unknown {
  const { type, probability, ...rest } = object(answer);
  return type === 'noul' && rest['noul'] === undefined ? { type, noul: probability, ...rest } : answer;
}

const azure = namedMapVendor('', {
  url({ apiBase }) {
    if (apiBase === null)
      throw badRequest('Missing AZURE_AI_API_BASE: set it or the api_base of the model, the address of its resource');
    const [base = ''] = apiBase.split('?');
    const resource = base
      .replace(/\/+$/, '')
      .replace(/(\/api\/projects\/[^/]+|\/openai\/v1|\/openai|\/models|\/v1)$/, '');
    return `${resource}/providers/microsoft/v1/systemone`;
  },
});

export const DECISION_VENDORS: Readonly<Record<DeciderName, DecisionVendor>> = {
  openai: openAi,
  openrouter: namedMapVendor('/alpha/decisions', { reportsCost: true }),
  azure_ai: azure,
  perplexity: namedMapVendor('/v1/decisions'),
  typesafe,
  strands_decider: namedMapVendor('/v1/systemone', { keyOptional: true }),
  cloudflare,
  databricks,
  hosted_vllm: namedMapVendor('/v1/systemone', { keyOptional: true, mostQuestions: 64 }),
  fireworks_ai: namedMapVendor('/v1/systemone'),
};
