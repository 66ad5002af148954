import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { openApiDocument } from '../../rest-shims/helpers/openapi/document.ts';
import { restRoutes } from '../../src/http/routes.ts';

type Content = Readonly<Record<string, object>>;
interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly { readonly in: string; readonly description?: string }[];
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
}

/** Response to a request of an operation. */
export interface SeenAnswer {
  readonly method: string;
  /** Path with query string. */
  readonly path: string;
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
}

const ID = 'lensgate:openapi';

/**
 * Creates a check of responses against the OpenAPI document. The check returns the fault. It returns null without a
 * fault, and for a path without an operation. Reuse the check, because it compiles each schema on first use.
 */
export function createAnswerCheck(): (answer: SeenAnswer) => string | null {
  const document = openApiDocument(restRoutes());
  const paths = document['paths'] as Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  // Shared schemas are compiled once and not inlined. Code is not optimized, because most validators run rarely.
  const quick = { inlineRefs: false, code: { optimize: false } };
  const ajv = new Ajv2020({ strict: false, allErrors: false, validateFormats: false, ...quick });
  ajv.addSchema({ ...document, $id: ID });
  const compiled = new Map<string, ValidateFunction>();
  const patterns = Object.keys(paths)
    .toSorted((left, right) => (rankOf(left) < rankOf(right) ? -1 : 1))
    .map((path) => ({ path, pattern: patternOf(path, hasRest(paths[path] ?? {})) }));

  function validatorOf(pointer: string): ValidateFunction {
    const known = compiled.get(pointer) ?? ajv.compile({ $ref: `${ID}#${pointer}` });
    compiled.set(pointer, known);
    return known;
  }

  return ({ method, path, status, contentType, text }) => {
    const [plain = ''] = path.split('?', 1);
    const found = patterns.find(
      (candidate) => candidate.pattern.test(plain) && paths[candidate.path]?.[method.toLowerCase()] !== undefined,
    );
    const operation = paths[found?.path ?? '']?.[method.toLowerCase()];
    if (found === undefined || operation === undefined) return null;
    const code = String(status) in operation.responses ? String(status) : 'default';
    const response = operation.responses[code];
    const fault = (what: string): string => `${operation.operationId} ${status}: ${what}`;
    if (response === undefined) return fault('the status is not documented');
    const media = (contentType.split(';', 1)[0] ?? '').trim();
    if (response.content === undefined)
      return text === '' || media === 'text/plain' ? null : fault(`a body of ${media} is not documented`);
    if (response.content['*/*'] !== undefined) return null;
    if (response.content[media] === undefined) return fault(`the media type ${media} is not documented`);
    if (media !== 'application/json') return null;
    const steps = ['paths', found.path, method.toLowerCase(), 'responses', code, 'content', media, 'schema'];
    if (!('schema' in response.content[media])) return null;
    const validate = validatorOf(steps.map((step) => `/${escaped(step)}`).join(''));
    if (validate(JSON.parse(text))) return null;
    const [first] = validate.errors ?? [];
    return fault(`${first?.instancePath} ${first?.message}: ${text.slice(0, 2_000)}`);
  };
}

/** Whether the last path parameter matches the rest of the path. Only such a parameter has a description. */
const hasRest = (operations: Readonly<Record<string, Operation>>): boolean =>
  Object.values(operations).some(({ parameters = [] }) =>
    parameters.some((parameter) => parameter.in === 'path' && parameter.description !== undefined),
  );

const escaped = (step: string): string => encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1'));

/** Pattern of a documented path. A parameter matches one segment, or the rest of the path. */
const patternOf = (path: string, endsInRest: boolean): RegExp =>
  new RegExp(
    `^${path
      .replaceAll(/[.*+?^$()|[\]\\]/g, String.raw`\$&`)
      .replace(/\{\w+\}$/, endsInRest ? '.+' : '[^/]+')
      .replaceAll(/\{\w+\}/g, '[^/]+')}$`,
  );

/** Sort key: fixed segments sort before parameters. */
const rankOf = (path: string): string =>
  path
    .split('/')
    .map((segment) => (segment.includes('{') ? '1' : '0'))
    .join('');
