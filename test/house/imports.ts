import { existsSync, globSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join, posix } from 'node:path';
import { parseSync, Visitor } from 'oxc-parser';

/** Regular expressions over paths; one of several must match. */
type Pattern = string | readonly string[];

/** An import that is not allowed. All conditions must match. */
export interface ImportRule {
  readonly name: string;
  /** Meaning of the rule, for readers. */
  readonly comment: string;
  /** The importing file. */
  readonly from: { readonly path?: Pattern; readonly pathNot?: Pattern };
  /** The imported file, package or core module. */
  readonly to: {
    readonly path?: Pattern;
    readonly pathNot?: Pattern;
    /** The import is on a cycle, or on a path between two cycles. */
    readonly circular?: true;
    /** The file or package does not exist. */
    readonly unresolved?: true;
    /** The import is more than `import type`. */
    readonly value?: true;
  };
}

/** One import of a file. */
interface Import {
  readonly from: string;
  /** Path from the base folder, `node_modules/NAME/` for a package, or the specifier of a core module. */
  readonly to: string;
  readonly value: boolean;
  readonly resolved: boolean;
}

/** Violations, and the numbers of checked files and imports. */
export interface CheckedImports {
  readonly violations: readonly { readonly rule: string; readonly from: string; readonly to: string }[];
  readonly files: number;
  readonly imports: number;
}

/** Planted faults and generated files. */
const UNREAD = /^test\/house\/canary\/|\/generated\//;

const matches = (pattern: Pattern, path: string): boolean =>
  [pattern].flat().some((source: string) => new RegExp(source).test(path));

/** Specifiers of imports, re-exports, `import()` with a literal, and `import('…').Type` in a source text. */
function specifiersIn(path: string, text: string): readonly { readonly specifier: string; readonly value: boolean }[] {
  const { program, errors } = parseSync(path, text);
  if (errors[0]) throw new SyntaxError(`${path}: ${errors[0].message}`);
  const found: { specifier: string; value: boolean }[] = [];
  const add = (specifier: string, kind: 'value' | 'type') => found.push({ specifier, value: kind === 'value' });
  new Visitor({
    ImportDeclaration: ({ source, importKind }) => add(source.value, importKind ?? 'value'),
    ExportNamedDeclaration: ({ source, exportKind }) => source && add(source.value, exportKind ?? 'value'),
    ExportAllDeclaration: ({ source, exportKind }) => add(source.value, exportKind ?? 'value'),
    ImportExpression: ({ source }) =>
      source.type === 'Literal' && typeof source.value === 'string' && add(source.value, 'value'),
    TSImportType: ({ source }) => add(source.value, 'type'),
  }).visit(program);
  return found;
}

/**
 * Whether a package is installed. Also searches the parents of `baseDir`, because the folder of planted faults has no
 * `node_modules`.
 */
function packageExists(baseDir: string, name: string): boolean {
  if (existsSync(join(baseDir, 'node_modules', name))) return true;
  return dirname(baseDir) !== baseDir && packageExists(dirname(baseDir), name);
}

function resolveImport(baseDir: string, from: string, specifier: string): Pick<Import, 'to' | 'resolved'> {
  if (specifier.startsWith('.')) {
    const to = posix.join(posix.dirname(from), specifier);
    return { to, resolved: existsSync(join(baseDir, to)) };
  }
  if (isBuiltin(specifier)) return { to: specifier, resolved: true };
  const name = specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
  return { to: `node_modules/${name}/`, resolved: packageExists(baseDir, name) };
}

/** Imports on a cycle, or on a path between two cycles. All others are removed iteratively. */
function circularOf(imports: readonly Import[]): ReadonlySet<Import> {
  let remaining = imports;
  for (;;) {
    const importing = new Set(remaining.map(({ from }) => from));
    const imported = new Set(remaining.map(({ to }) => to));
    const next = remaining.filter(({ from, to }) => importing.has(to) && imported.has(from));
    if (next.length === remaining.length) return new Set(next);
    remaining = next;
  }
}

/** Checks every import of the sources under `folders` of `baseDir` against the rules. A name with a dot is one file. */
export function checkImports(
  baseDir: string,
  folders: readonly string[],
  rules: readonly ImportRule[],
): CheckedImports {
  const files = globSync(
    folders.map((folder) => (folder.includes('.') ? folder : `${folder}/**/*.{ts,tsx,mjs}`)),
    { cwd: baseDir },
  ).filter((path) => !UNREAD.test(path));
  const imports = files.toSorted().flatMap((from) =>
    specifiersIn(from, readFileSync(join(baseDir, from), 'utf8')).map(({ specifier, value }): Import => ({
      from,
      value,
      ...resolveImport(baseDir, from, specifier),
    })),
  );
  const circular = circularOf(imports);
  const breaks = ({ from, to }: ImportRule, edge: Import): boolean =>
    (from.path === undefined || matches(from.path, edge.from)) &&
    (from.pathNot === undefined || !matches(from.pathNot, edge.from)) &&
    (to.path === undefined || matches(to.path, edge.to)) &&
    (to.pathNot === undefined || !matches(to.pathNot, edge.to)) &&
    (!to.circular || circular.has(edge)) &&
    (!to.unresolved || !edge.resolved) &&
    (!to.value || edge.value);
  return {
    violations: rules.flatMap((rule) =>
      imports.filter((edge) => breaks(rule, edge)).map(({ from, to }) => ({ rule: rule.name, from, to })),
    ),
    files: files.length,
    imports: imports.length,
  };
}
