import { InvalidInput } from '../errors.ts';
import { isJsonObject, jsonObjectOf, type JsonObject } from '../json-object.ts';

/** The upstream's name of a model. Throws for a model that the caller may not call. */
type NameOf = (model: string) => string;

const mapped = (value: JsonObject, change: (inner: unknown) => unknown): JsonObject =>
  Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, change(inner)]));

/** A grader with the upstream's name of its `model`. One of several graders has them in `graders`. */
function graderWithModels(grader: unknown, nameOf: NameOf): unknown {
  if (!isJsonObject(grader)) return grader;
  const { model, graders } = grader;
  return {
    ...grader,
    ...(typeof model === 'string' ? { model: nameOf(model) } : {}),
    ...(isJsonObject(graders) ? { graders: mapped(graders, (inner) => graderWithModels(inner, nameOf)) } : {}),
  };
}

/** A method of fine-tuning with the upstream's names of the models that grade answers. Throws what `nameOf` throws. */
export const withGraderModels = (method: JsonObject, nameOf: NameOf): JsonObject =>
  mapped(method, (settings) =>
    isJsonObject(settings) && Object.hasOwn(settings, 'grader')
      ? { ...settings, grader: graderWithModels(settings['grader'], nameOf) }
      : settings,
  );

function invalid(member: string, expected: string): InvalidInput {
  const message = `/evals: Invalid value for parameter '${member}': it must be ${expected}.`;
  return new InvalidInput(message, [{ path: ['body', ...member.split('.')], rule: 'value', message }]);
}

/**
 * The criteria of an evaluation with the upstream's names of models; null where the request has none. `model` is the
 * first of these models, as the request names it. Throws InvalidInput for data of calls that the upstream has stored,
 * because they are those of all callers. Throws what `nameOf` throws.
 */
export function evalWithModels(
  { data_source_config: config, testing_criteria: criteria }: JsonObject,
  nameOf: NameOf,
): { readonly criteria: readonly unknown[] | null; readonly model: string | null } {
  if (jsonObjectOf(config)['type'] !== 'custom')
    throw invalid('data_source_config.type', "'custom': calls that the provider stores are those of all keys");
  if (!Array.isArray(criteria)) return { criteria: null, model: null };
  let first: string | null = null;
  const renamed = criteria.map((grader: unknown) =>
    graderWithModels(grader, (name) => {
      first ??= name;
      return nameOf(name);
    }),
  );
  return { criteria: renamed, model: first };
}

/** Data of a run that the caller sends or has uploaded. */
const OWN_SOURCES: ReadonlySet<unknown> = new Set(['file_content', 'file_id']);

/** Models and files that the data source of a run names. */
export interface RunSource {
  /** The data source with the upstream's name of the model, and its id of the file. */
  readonly source: (upstreamFileId: string | null) => JsonObject;
  /** Name of the model that is evaluated; null where the data have the answers. */
  readonly model: string | null;
  /** Id of the file with the data; null for data in the request. */
  readonly fileId: string | null;
  readonly tools: unknown;
}

/**
 * Reads the data source of a run. Throws InvalidInput for data of calls that the upstream has stored, because they are
 * those of all callers. Throws what `nameOf` throws.
 */
export function runWithModels({ data_source: data }: JsonObject, nameOf: NameOf): RunSource {
  if (!isJsonObject(data)) throw invalid('data_source', 'an object');
  const { model, source, sampling_params: sampling } = data;
  if (!isJsonObject(source) || !OWN_SOURCES.has(source['type']))
    throw invalid(
      'data_source.source.type',
      "'file_content' or 'file_id': calls that the provider stores are those of all keys",
    );
  const { id } = source;
  const isFile = source['type'] === 'file_id';
  if (isFile && typeof id !== 'string') throw invalid('data_source.source.id', 'the id of a file');
  if (model !== undefined && model !== null && typeof model !== 'string')
    throw invalid('data_source.model', 'a string');
  const named = typeof model === 'string' ? { model: nameOf(model) } : {};
  return {
    source: (upstreamFileId) => ({
      ...data,
      ...named,
      ...(isFile ? { source: { ...source, id: upstreamFileId } } : {}),
    }),
    model: typeof model === 'string' ? model : null,
    fileId: isFile && typeof id === 'string' ? id : null,
    tools: jsonObjectOf(sampling)['tools'],
  };
}
