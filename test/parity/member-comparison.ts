import { type RecordedCase, type ReplayedAnswer, shapeOf } from './recordings.ts';

/** Differences between a recorded and a replayed answer. `status` and `shape` are null if they are equal. */
export interface MemberComparison {
  readonly index: number;
  readonly name: string;
  readonly status: string | null;
  readonly shape: string | null;
  readonly text: string;
}

type Json = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Members that are not compared in depth. Callers choose the members of `config`, `permissions`, `aliases` and most
 * `metadata`. `param_value` is the value of a setting of any type. `usage`, `choices` and `data` are members of answers
 * of models, also outside `/v1/`. The name `data` applies to other answers, too.
 */
const NOT_COMPARED_IN_DEPTH = new Set([
  'metadata',
  'config',
  'permissions',
  'aliases',
  'usage',
  'choices',
  'data',
  'param_value',
]);

/** Members of errors whose values are compared, because clients use them. */
const COMPARED_VALUES = new Set(['type', 'param', 'code']);

/**
 * Paths of all members of an answer, with the first item of each list. The paths of `type`, `param` and `code` of an
 * error contain their values.
 */
function membersOf(value: unknown, prefix = ''): readonly string[] {
  if (Array.isArray(value)) return [`${prefix}[]`, ...membersOf(value[0], `${prefix}[]`)];
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    const path = `${prefix}.${name}`;
    if (prefix === '.error' && COMPARED_VALUES.has(name)) return [`${path}=${String(inner)}`];
    return NOT_COMPARED_IN_DEPTH.has(name) ? [path] : [path, ...membersOf(inner, path)];
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Masks the parameter of an expired key: it contains the end of a hash. */
const withoutHashEnd = (path: string): string => path.replace(/param=sk-\.\.\.\w{4}$/, 'param=sk-...');

/** Answers of models are compared by their top-level members and errors only. */
const isOfModel = (path: string): boolean => path.startsWith('/v1/');

export function compareMembers(index: number, recorded: RecordedCase, answer: ReplayedAnswer): MemberComparison {
  const shape = (body: unknown): ReadonlySet<string> =>
    new Set(isOfModel(recorded.path) ? shapeOf(body) : membersOf(body).map(withoutHashEnd));
  const [expected, actual] = [shape(recorded.response_body), shape(parsed(answer.text))];
  const missing = [...expected.difference(actual)];
  const added = [...actual.difference(expected)];
  return {
    index,
    name: recorded.name,
    status: answer.status === recorded.status ? null : `${recorded.status} -> ${answer.status}`,
    shape: missing.length + added.length === 0 ? null : `missing ${missing.join(' ')} added ${added.join(' ')}`,
    text: answer.text,
  };
}
