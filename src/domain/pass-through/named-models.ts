import type { JsonObject } from '../json-object.ts';
import { Forbidden } from '../errors.ts';
import { allowsModel, assertMayCall, modelLists, type VirtualKey } from '../keys/virtual-key.ts';
import { type ForwardedProvider, modelInPath } from './providers.ts';

/** The parts of a request that may name models. */
interface NamingRequest {
  /** Path as it was sent. */
  readonly path: string;
  readonly search: string;
  /** The body as a JSON object or a form; empty for another body. */
  readonly fields: JsonObject;
}

/** Members of a body, and parameters, that name a model: OpenAI's, Watsonx's, Amazon's. */
const MEMBERS = ['model', 'model_id', 'modelId'] as const;
/** Beginning of a model name in Google's APIs, where a model is a resource with a path. */
const RESOURCE = /^(?:.*\/)?models\//;

const isName = (value: unknown): value is string => typeof value === 'string' && value !== '';

/** The name of a model, for Google without the path of its resource. */
const plainName = (provider: string, name: string): string =>
  provider === 'gemini' || provider === 'vertex_ai' ? name.replace(RESOURCE, '') : name;

/** Stands for a model whose name is unknown: no model list can contain it. */
const UNKNOWN_NAME = '';

/**
 * The models that a request names, in its path, its body and its query. The first of them answers the call. For Azure,
 * the body comes first: the path names a deployment, and the body may name the model of this deployment.
 */
export function modelsNamedIn(
  { name, pathIsModel }: ForwardedProvider,
  subpath: string,
  { fields, search }: NamingRequest,
): readonly string[] {
  const inPath = pathIsModel === true ? subpath.replace(/\/+$/, '') : modelInPath(subpath);
  const inBody = MEMBERS.flatMap((member) => [fields[member]].flat()).filter(isName);
  const further = Array.isArray(fields['models']) ? fields['models'].filter(isName) : [];
  const query = search === '' ? null : new URLSearchParams(search);
  const inQuery = query === null ? [] : MEMBERS.flatMap((member) => query.getAll(member)).filter(isName);
  const ofPath = inPath === null || inPath === '' ? [] : [inPath];
  const named = name === 'azure' ? [...inBody, ...ofPath] : [...ofPath, ...inBody];
  return [...named, ...further, ...inQuery].map((one) => plainName(name, one));
}

/** Whether one of the lists of a key limits its models. */
export const isLimited = (key: VirtualKey): boolean =>
  modelLists(key, UNKNOWN_NAME).some((models) => !allowsModel(models, UNKNOWN_NAME, []));

/** Whether the allowed routes of a key name a path, and not only a group of routes. */
const namesRoute = ({ settings: { allowedRoutes = [] } }: VirtualKey, prefix: string): boolean =>
  allowedRoutes.some((entry) => entry === prefix || entry.startsWith(`${prefix}/`) || entry === `${prefix}*`);

/**
 * Refuses models that a key may not call. A path may name no model. A key that may call only some models may call such
 * a path only if its allowed routes name the prefix of the path. Throws Forbidden.
 */
export function assertMayForward(key: VirtualKey | null, models: readonly string[], { path }: NamingRequest): void {
  for (const model of models) assertMayCall(key, model);
  if (models.length > 0 || key === null || !isLimited(key)) return;
  const slash = path.indexOf('/', 1);
  const prefix = slash === -1 ? path : path.slice(0, slash);
  if (namesRoute(key, prefix)) return;
  throw new Forbidden(
    `The requested path names no model, and this API key may call certain models only. Name one of its models, or add \`${prefix}/*\` to the allowed routes of the key.`,
    'model',
  );
}
