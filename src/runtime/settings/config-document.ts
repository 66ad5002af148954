import { type JsonObject, isJsonObject } from '../../domain/json-object.ts';
import { dirname, resolve } from 'node:path';
import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  visit,
} from 'yaml';
import { ConfigError, type ConfigFault, faultText } from './config-fault.ts';
import { type NamedFile, readText } from './config-text.ts';
import { type Path, resolveReferences } from './config-references.ts';
import { readFileVariables } from './file-variables.ts';
import { readPlainYaml } from './plain-yaml/plain-yaml.ts';
import { aliasFault } from './yaml-aliases.ts';

/** The configuration file with its included files and resolved references. */
export interface ConfigDocument {
  readonly content: JsonObject;
  /** `content` with references as they are written. */
  readonly declared: JsonObject;
  /** The file, and those that it includes. */
  readonly files: readonly string[];
  /** Variables that the file sets, by name. They may be secrets. */
  readonly variables: Readonly<Record<string, string>>;
  /** Entries of `environment_variables` that are left out. */
  readonly warnings: readonly ConfigFault[];
  /** Invalid variables of the file, and references to unset variables in settings that are read. */
  readonly faults: readonly ConfigFault[];
  /** File and line of a setting; of the nearest enclosing one when it is missing. */
  placeOf(path: Path): { readonly source: string; readonly line: number | null };
}

export const NO_DOCUMENT: ConfigDocument = {
  content: {},
  declared: {},
  files: [],
  variables: {},
  warnings: [],
  faults: [],
  placeOf: () => ({ source: 'config file', line: null }),
};

/** One file. */
interface Part {
  readonly file: string;
  readonly content: JsonObject;
  lineOf(path: Path): number;
}

/** Origin of a section: its file. For a list, the file of its items from index `from` on. */
interface Segment {
  readonly part: Part;
  readonly from: number;
}

/**
 * Reads a file and, recursively, those that `include` names, relative to the folder of the first file. As in the
 * reference, lists of an included file are appended and other sections replaced. A file that is included twice, also by
 * itself, is read once. `isRead` decides for which paths an unset variable is a fault. `plainYaml` allows the fast
 * reader. Throws ConfigError for a file that cannot be read or is no valid YAML map.
 */
export function readConfigDocument(
  file: string,
  env: NodeJS.ProcessEnv,
  { isRead, plainYaml }: { readonly isRead: (path: Path) => boolean; readonly plainYaml: boolean },
): ConfigDocument {
  const content: Record<string, unknown> = {};
  const segments = new Map<string, Segment[]>();
  const queue: NamedFile[] = [{ file, includedBy: null }];
  const readPaths = new Set<string>();
  // The loop also visits files that are appended to the queue while it runs.
  for (const named of queue) {
    const path = resolve(named.file);
    if (readPaths.has(path)) continue;
    readPaths.add(path);
    const part = readPart(named, plainYaml);
    for (const [section, value] of Object.entries(part.content)) {
      if (section === 'include') queue.push(...includedFiles(value, part, dirname(file)));
      else merge(content, segments, { section, value, part });
    }
  }

  const placeOf = (path: Path): { source: string; line: number | null } => {
    const [section, index, ...rest] = path;
    const ofSection = segments.get(String(section)) ?? [];
    if (typeof index !== 'number') {
      const part = ofSection[0]?.part;
      return part ? { source: part.file, line: part.lineOf(path) } : { source: file, line: 1 };
    }
    const segment = ofSection.findLast(({ from }) => from <= index);
    if (segment === undefined) return { source: file, line: 1 };
    const { part, from } = segment;
    const indexInPart = index - from;
    return { source: part.file, line: part.lineOf([section ?? '', indexInPart, ...rest]) };
  };
  const variables = readFileVariables(content, env, placeOf);
  const known = { ...env, ...variables.values };
  const faults = [...variables.faults];
  const resolved = resolveReferences(content, [], (path, name) => {
    const value = known[name];
    if ((value === undefined || value === '') && isRead(path)) {
      const message = `the environment variable ${name} it refers to is not set`;
      faults.push({ ...placeOf(path), key: path.join('.'), message });
    }
    return value ?? '';
  });
  return {
    content: resolved as JsonObject,
    declared: content,
    files: [...readPaths],
    variables: variables.values,
    warnings: variables.warnings,
    faults,
    placeOf,
  };
}

function merge(
  content: Record<string, unknown>,
  segments: Map<string, Segment[]>,
  { section, value, part }: { readonly section: string; readonly value: unknown; readonly part: Part },
): void {
  const before = content[section];
  const isExtended = Array.isArray(before) && Array.isArray(value);
  content[section] = isExtended ? [...(before as unknown[]), ...(value as unknown[])] : value;
  const segment = { part, from: isExtended ? before.length : 0 };
  segments.set(section, isExtended ? [...(segments.get(section) ?? []), segment] : [segment]);
}

function includedFiles(value: unknown, part: Part, folder: string): readonly NamedFile[] {
  if (value === null) return [];
  if (Array.isArray(value) && value.every((name) => typeof name === 'string'))
    return value.map((name, index) => ({
      file: resolve(folder, name),
      includedBy: { source: part.file, line: part.lineOf(['include', index]), key: `include.${index}` },
    }));
  const message = 'is not a list of files, one `- name.yaml` per line';
  throw new ConfigError([{ source: part.file, line: part.lineOf(['include']), key: 'include', message }]);
}

function readPart(named: NamedFile, plainYaml: boolean): Part {
  const { file } = named;
  const text = readText(named);
  const plain = plainYaml ? readPlainYaml(text) : null;
  if (plain === null) return readAnyYaml(file, text);
  return { file, content: plain.value, lineOf: plain.lineOf };
}

function readAnyYaml(file: string, text: string): Part {
  const lines = new LineCounter();
  // Merge keys (`<<`) as in YAML 1.1, which the reference reads.
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, merge: true });
  const syntaxFaults = document.errors.map(({ code, pos, message }) => ({
    source: file,
    line: lines.linePos(pos[0]).line,
    ...(code === 'DUPLICATE_KEY'
      ? repeatedKey(document, lines, pos[0])
      : { key: '', message: syntaxMessage(code, message) }),
  }));
  if (syntaxFaults.length > 0) throw new ConfigError(distinct(syntaxFaults));
  return {
    file,
    content: sectionsOf(document, file, lines),
    lineOf: (path) => lines.linePos(offsetOf(document, path)).line,
  };
}

/** Messages in place of those of the YAML library, which name its API or give no remedy. */
const SYNTAX_MESSAGES: Readonly<Record<string, string>> = {
  MULTIPLE_DOCS: 'begins a second document; a configuration file has one, without `---` in between',
  TAB_AS_INDENT: 'Tabs are not allowed as indentation; indent with spaces',
};

const syntaxMessage = (code: string, message: string): string =>
  message.startsWith('Maximum call stack') ? 'is nested too deeply' : (SYNTAX_MESSAGES[code] ?? message);

const distinct = (faults: readonly ConfigFault[]): readonly ConfigFault[] => [
  ...new Map(faults.map((fault) => [faultText(fault), fault])).values(),
];

/** Name of a key. The library has a symbol for a merge key (`<<`). */
function nameOf(key: unknown): string {
  const value: unknown = isScalar(key) ? key.value : key;
  return typeof value === 'symbol' ? (value.description ?? '') : String(value);
}

/** Dotted path of a node below its ancestors. */
function keyOf(nodes: readonly unknown[]): string {
  return nodes
    .flatMap((node, at): readonly (string | number)[] => {
      if (isPair(node)) return [nameOf(node.key)];
      return isSeq(node) && at + 1 < nodes.length ? [node.items.indexOf(nodes[at + 1])] : [];
    })
    .join('.');
}

/** The duplicate key at an offset, and the line of its first occurrence. */
function repeatedKey(document: Document, lines: LineCounter, offset: number): { key: string; message: string } {
  let found = { key: '', message: 'Map keys must be unique' };
  visit(document, {
    Pair(_key, pair, ancestors) {
      if (!isScalar(pair.key) || pair.key.range?.[0] !== offset) return undefined;
      const { value } = pair.key;
      const map = ancestors.at(-1);
      const first = isMap(map) ? map.items.find(({ key }) => isScalar(key) && key.value === value) : undefined;
      const start = isScalar(first?.key) ? (first.key.range?.[0] ?? offset) : offset;
      const message = `is set in line ${lines.linePos(start).line} already; a map has each key once`;
      found = { key: keyOf([...ancestors, pair]), message };
      return visit.BREAK;
    },
  });
  return found;
}

/**
 * The sections of a document. Throws ConfigError for a document that is no map, and for an alias that cannot be
 * expanded.
 */
function sectionsOf(document: Document, file: string, lines: LineCounter): JsonObject {
  const fault = aliasFault(document);
  if (fault !== null) {
    const offset = fault.alias.range?.[0];
    const line = offset === undefined ? null : lines.linePos(offset).line;
    const key = keyOf([...fault.ancestors, fault.alias]);
    throw new ConfigError([{ source: file, line, key, message: fault.message }]);
  }
  // No limit of the library: `aliasFault` has limited the expansion.
  const content: unknown = document.toJS({ maxAliasCount: -1 }) ?? {};
  if (!isJsonObject(content)) {
    const message = 'is not a map of sections such as `model_list:` and `general_settings:`';
    throw new ConfigError([{ source: file, line: 1, key: '', message }]);
  }
  return content;
}

/** Offset of the key or list item at a path; of the nearest enclosing one when it is missing. */
function offsetOf(document: Document, path: Path): number {
  let offset = 0;
  let node: unknown = document.contents;
  for (const step of path) {
    if (isAlias(node)) node = node.resolve(document);
    const found = childOf(node, step);
    if (found === null) break;
    ({ offset, node } = found);
  }
  return offset;
}

function childOf(node: unknown, step: string | number): { readonly offset: number; readonly node: unknown } | null {
  if (isSeq(node)) {
    const item = node.items[Number(step)];
    return isNode(item) ? { offset: item.range?.[0] ?? 0, node: item } : null;
  }
  if (!isMap(node)) return null;
  const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(step));
  if (pair === undefined || !isNode(pair.key)) return null;
  return { offset: pair.key.range?.[0] ?? 0, node: pair.value };
}
