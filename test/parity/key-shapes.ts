import { type RecordedCase, type ReplayedAnswer, shapeOf } from './recordings.ts';

/** What differs between a recorded answer and ours; null where nothing does. */
export interface KeyComparison {
  readonly index: number;
  readonly name: string;
  readonly status: string | null;
  readonly shape: string | null;
  readonly text: string;
}

type Json = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Members whose inner names belong to the caller. */
const FREE = new Set(['metadata', 'config', 'permissions', 'aliases', 'usage', 'choices', 'data', 'param_value']);

/** Members of errors that clients decide by. */
const FIXED = new Set(['type', 'param', 'code']);

/**
 * The names of an answer's members, of its objects' members, and of the members of the first object in each list. Of
 * errors the type, parameter and code, too.
 */
function membersOf(value: unknown, prefix = ''): readonly string[] {
  if (Array.isArray(value)) return [`${prefix}[]`, ...membersOf(value[0], `${prefix}[]`)];
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    const path = `${prefix}.${name}`;
    if (prefix === '.error' && FIXED.has(name)) return [`${path}=${String(inner)}`];
    return FREE.has(name) ? [path] : [path, ...membersOf(inner, path)];
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The parameter of an expired key is the end of a hash. */
const settled = (path: string): string => path.replace(/param=sk-\.\.\.\w{4}$/, 'param=sk-...');

/** Answers of models are compared by their outermost members and their errors. */
const isOfModel = (path: string): boolean => path.startsWith('/v1/');

export function compareKeyAnswer(index: number, one: RecordedCase, answer: ReplayedAnswer): KeyComparison {
  const shape = (body: unknown): ReadonlySet<string> =>
    new Set(isOfModel(one.path) ? shapeOf(body) : membersOf(body).map(settled));
  const [expected, actual] = [shape(one.response_body), shape(parsed(answer.text))];
  const missing = [...expected.difference(actual)];
  const added = [...actual.difference(expected)];
  return {
    index,
    name: one.name,
    status: answer.status === one.status ? null : `${one.status} -> ${answer.status}`,
    shape: missing.length + added.length === 0 ? null : `missing ${missing.join(' ')} added ${added.join(' ')}`,
    text: answer.text,
  };
}
