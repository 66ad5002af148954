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
  readonly keyOptional: boolean;
  /** Address of a call. Throws InvalidInput for a deployment that cannot be called. */
  url(deployment: Deployment): string;
  /** Model name in the body; null sends none. The configured name when absent. */
  readonly model?: (deployment: Deployment) => string | null;
  /** Abilities besides the common ones. */
  readonly abilities?: (deployment: Deployment, request: ModelRequest) => Partial<Abilities>;
  /** Form of images in messages, in the named-map format. */
  readonly images?: (urls: readonly string[]) => ImagesInState | Promise<ImagesInState>;
  /** The answer in the format, out of the vendor's own envelope. */
  readonly unwrapped?: (answer: unknown, deployment: Deployment) => unknown;
  /** Most questions of one call; no limit when absent. A decision with more is sent as several calls. */
  readonly mostQuestions?: number;
  /** Whether the cost in the usage is what the vendor bills. */
  readonly reportsCost?: true;
}

const refuse = (text: string): InvalidInput => new InvalidInput(`litellm.BadRequestError: ${text}`);

/** The address of the deployment or its vendor, without a version at its end; null where neither has one. */
function hostOf({ apiBase, provider }: Deployment): string | null {
  const base = apiBase ?? vendorOf(provider)?.base ?? null;
  return base === null ? null : base.replace(/\/+$/, '').replace(/\/v1$/, '');
}

const at =
  (path: string) =>
  (deployment: Deployment): string => {
    const host = hostOf(deployment);
    if (host === null) throw refuse(`api_base is required for Decisions provider '${deployment.provider}'`);
    return `${host}${path}`;
  };

const named = (path: string, differing: Partial<DecisionVendor> = {}): DecisionVendor => ({
  format: 'named-map',
  keyOptional: false,
  url: at(path),
  ...differing,
});

/** Header of a caller or a deployment that opts in to images and boxes at TypeSafe. */
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
const CLOUDFLARE_MODELS = '@cf/cloudflare/';
/** Model of Cloudflare that takes audio and video. */
const CLOUDFLARE_OMNI = 'clef-omni';

/** Images that are untouched and unlimited. */
const ANY_IMAGES: ImageRules = { types: null, most: null, mostBytes: null, mostBytesTogether: null, inline: false };

const openAi: DecisionVendor = {
  format: 'standard',
  keyOptional: false,
  url: at('/v1/decisions'),
  abilities: () => ({ safetyIdentifier: true, images: ANY_IMAGES, imagesBesideState: true }),
};

/** Data URL with a lower-case media type and the standard alphabet. */
function normalised(url: string): { readonly type: string; readonly base64: string; readonly url: string } {
  const [, type = '', base64 = ''] = /^data:([^;,]+)[^,]*,(.*)$/is.exec(url) ?? [];
  const standard = base64.replaceAll('-', '+').replaceAll('_', '/');
  return { type: type.toLowerCase(), base64: standard, url: `data:${type.toLowerCase()};base64,${base64}` };
}

/** Name of an image of a message as an asset: stable for the same image. */
async function assetName(url: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(url));
  return `image-${Buffer.from(digest).toString('hex').slice(0, 32)}`;
}

const typesafe = named('/v1/systemone', {
  abilities({ headers = {}, upstreamModel }, { forwarded = {} }) {
    const sent = Object.entries({ ...headers, ...forwarded });
    const isOn = sent.some(
      ([name, value]) => name.toLowerCase() === TYPESAFE_IMAGES && value.trim().toLowerCase() === 'true',
    );
    if (!isOn) return {};
    return { images: TYPESAFE_RULES, assets: true, boxes: TYPESAFE_BOXES.has(upstreamModel) };
  },
  async images(urls) {
    const names = new Map<string, string>();
    for (const url of urls) names.set(url, await assetName(url));
    const assets = [...names].map(([url, name]): [string, Members] => {
      const { type, base64 } = normalised(url);
      return [name, { type: 'image', format: type.slice('image/'.length), data_base64: base64 }];
    });
    return { textOf: (url) => names.get(url) ?? null, members: { assets: Object.fromEntries(assets) } };
  },
});

const cloudflare: DecisionVendor = named('', {
  url(deployment) {
    const { apiBase, options, upstreamModel } = deployment;
    const account = options['account_id'];
    const base = apiBase ?? (account === undefined ? null : `https://api.cloudflare.com/client/v4/accounts/${account}`);
    if (base === null)
      throw refuse('Missing CLOUDFLARE_ACCOUNT_ID: set CLOUDFLARE_ACCOUNT_ID or the api_base of the model');
    const model = upstreamModel.startsWith('@cf/') ? upstreamModel : `${CLOUDFLARE_MODELS}${upstreamModel}`;
    return `${base.replace(/\/+$/, '').replace(/\/ai\/(v1|run)$/, '')}/ai/run/${model}`;
  },
  model: ({ upstreamModel }) => upstreamModel.slice(upstreamModel.lastIndexOf('/') + 1),
  abilities({ upstreamModel }) {
    const isOmni = upstreamModel.endsWith(CLOUDFLARE_OMNI);
    return { images: CLOUDFLARE_RULES, imagesBesideState: true, audio: isOmni, videos: isOmni };
  },
  images: (urls) => ({ textOf: () => null, members: { images: urls.map((url) => normalised(url).url) } }),
  unwrapped: (answer) => {
    const { answers, result } = object(answer);
    return answers === undefined && result !== undefined ? result : answer;
  },
});

/** Name of a function of Databricks that is no serving endpoint. */
const AI_DECIDE = 'ai_decide';
const isFunction = ({ upstreamModel }: Deployment): boolean => upstreamModel === AI_DECIDE;

const databricks = named('', {
  url(deployment) {
    const { upstreamModel, provider } = deployment;
    const base = hostOf(deployment);
    if (!/^[A-Za-z0-9_-][A-Za-z0-9._-]*$/.test(upstreamModel))
      throw refuse(
        `Databricks serving endpoint name '${upstreamModel}' must have letters, digits, '-', '_' and '.' only, and not begin with '.'`,
      );
    if (base === null) throw refuse(`Missing DATABRICKS_API_BASE: set it or the api_base of the ${provider} model`);
    if (isFunction(deployment)) return `${base.replace(/\/serving-endpoints$/, '')}/api/2.0/ai-functions/ai-decide`;
    return `${base}/${upstreamModel}/invocations`;
  },
  model: (deployment) => (isFunction(deployment) ? null : deployment.upstreamModel),
  unwrapped(answer, deployment) {
    if (!isFunction(deployment)) return answer;
    const { response, ...rest } = object(answer);
    const answers = Object.entries(object(response)).map(([name, one]) => [name, withNoul(one)]);
    return isJsonObject(response) ? { ...rest, answers: Object.fromEntries(answers) as Members } : answer;
  },
});

/** The function names the probability of a noul `probability`. */
function withNoul(answer: unknown): unknown {
  const { type, probability, ...rest } = object(answer);
  return type === 'noul' && rest['noul'] === undefined ? { type, noul: probability, ...rest } : answer;
}

const azure = named('', {
  url({ apiBase }) {
    if (apiBase === null)
      throw refuse('Missing AZURE_AI_API_BASE: set it or the api_base of the model, the address of its resource');
    const [base = ''] = apiBase.split('?');
    const resource = base
      .replace(/\/+$/, '')
      .replace(/(\/api\/projects\/[^/]+|\/openai\/v1|\/openai|\/models|\/v1)$/, '');
    return `${resource}/providers/microsoft/v1/systemone`;
  },
});

export const DECISION_VENDORS: Readonly<Record<DeciderName, DecisionVendor>> = {
  openai: openAi,
  openrouter: named('/alpha/decisions', { reportsCost: true }),
  azure_ai: azure,
  perplexity: named('/v1/decisions'),
  typesafe,
  strands_decider: named('/v1/systemone', { keyOptional: true }),
  cloudflare,
  databricks,
  hosted_vllm: named('/v1/systemone', { keyOptional: true, mostQuestions: 64 }),
  fireworks_ai: named('/v1/systemone'),
};
