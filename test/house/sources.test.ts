import { stripTypeScriptTypes } from 'node:module';
import { parseSync, Visitor } from 'oxc-parser';
import { describe, expect, it } from 'vitest';
import { occurrences, readFiles, type SourceFile, withoutComments } from './repository.ts';

const CODE = ['src/**/*.{ts,tsx}', 'resolvers/**/*.ts', 'schema/**/*.ts', 'rest-shims/**/*.ts', 'lite/**/*.ts'];
const ALL_CODE = [...CODE, 'test/**/*.ts', 'bench/**/*.ts', 'scripts/**/*.{ts,mjs}', '*.ts'];

/** A literal failure status: in a property, an assignment or `writeHead`. */
const STATUS = /\b(status|statusCode)\s*[:=]\s*[45]\d\d\b|\bwriteHead\(\s*[45]\d\d\b/;
/** Absolute paths of a development machine, and of its tools. */
const MACHINE_PATH = /(?<![\w.:/*-])\/(home|root|Users|work|mnt)\/[\w.]|\.lib(?:rary)\b/;
/** Maximum lines of a source file. */
const MAX_FILE_LINES = 350;
/** Maximum lines of a step of the composition root, and maximum files directly in `src/`. */
const MAX_STEP_LINES = 59;
const MAX_ROOT_FILES = 5;

/** Maximum characters of a comment line, as `printWidth` of the formatter, which does not wrap comments. */
const MAX_COMMENT_WIDTH = 120;
/** A line of a comment. Commands and tables, which are indented by three spaces, may be longer. */
const COMMENT_LINE = /^\s*(?:\/\/|\/?\*\*?)(?! {3})/;

const aFile = (text: string, path = 'rest-shims/canary.ts'): SourceFile => ({ path, text });

function statusesIn(files: readonly SourceFile[]): readonly string[] {
  const judged = files
    .filter(({ path }) => path !== 'rest-shims/errors.ts')
    .map(({ path, text }) => ({ path, text: withoutComments(text) }));
  return occurrences(judged, STATUS);
}

const tooLong = (files: readonly SourceFile[]): readonly string[] =>
  files.flatMap(({ path, text }) => (text.split('\n').length - 1 > MAX_FILE_LINES ? [path] : []));

/** Comment lines above the limit, as `path:line`. */
const wideComments = (files: readonly SourceFile[]): readonly string[] =>
  files.flatMap(({ path, text }) =>
    text
      .split('\n')
      .flatMap((line, index) =>
        line.length > MAX_COMMENT_WIDTH && COMMENT_LINE.test(line) ? [`${path}:${index + 1}`] : [],
      ),
  );

/** Functions above the limit, as `path: lines`. Lines of inner functions count. */
function longFunctions(files: readonly SourceFile[], limit: number): readonly string[] {
  return files.flatMap(({ path, text }) => {
    const found: string[] = [];
    const judge = ({ start, end }: { readonly start: number; readonly end: number }): void => {
      const lines = text.slice(start, end).split('\n').length;
      if (lines > limit) found.push(`${path}: ${lines}`);
    };
    new Visitor({
      FunctionDeclaration: judge,
      FunctionExpression: judge,
      ArrowFunctionExpression: judge,
    }).visit(parseSync(path, text).program);
    return found;
  });
}

/** Function literals assigned to a property, as `path:line`. V8 allocates them in the old generation. */
function assignedFunctions(files: readonly SourceFile[]): readonly string[] {
  return files.flatMap(({ path, text }) => {
    const found: string[] = [];
    new Visitor({
      AssignmentExpression({ left, right, start }) {
        const isFunction = right.type === 'ArrowFunctionExpression' || right.type === 'FunctionExpression';
        if (isFunction && left.type === 'MemberExpression')
          found.push(`${path}:${text.slice(0, start).split('\n').length}`);
      },
    }).visit(parseSync(path, text).program);
    return found;
  });
}

/**
 * Files that Node cannot load from source, with the reason. The parser of Node is stricter than that of the bundler.
 */
function refusedByNode(files: readonly SourceFile[]): readonly string[] {
  // Node does not read JSX: the bundler compiles it.
  const read = files.filter(({ path }) => !path.endsWith('.tsx'));
  return read.flatMap(({ path, text }) => {
    try {
      stripTypeScriptTypes(text);
      return [];
    } catch (error) {
      return [`${path}: ${error instanceof Error ? error.message : String(error)}`];
    }
  });
}

// Some forms and canaries are written in parts, so that a search for the form does not find this file.
const FORBIDDEN_FORMS = [
  { name: 'any', form: /(:|\bas|<)\s*any\b(?!thing)/, canary: 'const x = y as any;' },
  {
    name: 'a suppressed compiler error',
    form: /@ts-(ignore|nocheck|expect-error)/,
    canary: ['// @ts', 'ignore'].join('-'),
  },
  { name: 'a default export', form: /^export default\b/, canary: 'export default createRouter;' },
  {
    name: 'a skipped or lone test',
    form: /\b(it|describe|test)\.(skip|only|todo)\(/,
    canary: ['it', 'skip("x")'].join('.'),
  },
  { name: 'a note of unfinished work', form: /\b(TO(?:)DO|FIX(?:)ME|XXX)\b/, canary: ['// TO', 'DO: later'].join('') },
] as const;

/** Files with a default export, because tools load their settings from it. */
const WITH_DEFAULT_EXPORT = new Set(['vitest.config.ts', 'codegen.ts']);

describe('sources', () => {
  it('are found', () => {
    expect(readFiles(...CODE).length).toBeGreaterThan(60);
  });

  it('can be parsed by Node', () => {
    expect(refusedByNode(readFiles(...CODE))).toEqual([]);
  });

  it.each(['for (const of of [1]) of;', 'enum Kind { One }', 'class A { constructor(private readonly b: string) {} }'])(
    'a planted source that Node refuses is reported: %s',
    (line) => {
      expect(refusedByNode([aFile(line)])).toHaveLength(1);
    },
  );

  it('failure statuses are written in rest-shims/errors.ts and nowhere else', () => {
    expect(statusesIn(readFiles(...CODE))).toEqual([]);
  });

  it.each(['ctx.status = 404;', 'return { status: 422, body };', 'response.writeHead( 503 );', 'res.statusCode=400'])(
    'a planted status is reported: %s',
    (text) => {
      expect(statusesIn([aFile(text)])).toHaveLength(1);
      expect(statusesIn([aFile(text, 'rest-shims/errors.ts'), aFile(`// ${text}`)])).toEqual([]);
    },
  );

  it(`no source file is longer than ${MAX_FILE_LINES} lines`, () => {
    expect(tooLong(readFiles(...ALL_CODE))).toEqual([]);
    expect(tooLong([aFile('x\n'.repeat(MAX_FILE_LINES + 1)), aFile('x\n'.repeat(MAX_FILE_LINES), 'short.ts')])).toEqual(
      ['rest-shims/canary.ts'],
    );
  });

  it(`no comment line is longer than ${MAX_COMMENT_WIDTH} characters`, () => {
    // An applied migration is never edited.
    const files = readFiles(...ALL_CODE).filter(({ path }) => !/\/(migrations|generated)\//.test(path));
    expect(wideComments(files)).toEqual([]);
    const wide = 'x'.repeat(MAX_COMMENT_WIDTH);
    const lines = [`// ${wide}`, `/** ${wide} */`, ` * ${wide}`, `//   node ${wide}`, `const wide = '${wide}';`];
    expect(wideComments([aFile(lines.join('\n'))])).toEqual([1, 2, 3].map((line) => `rest-shims/canary.ts:${line}`));
  });

  it(`the composition root has steps of at most ${MAX_STEP_LINES} lines, and at most ${MAX_ROOT_FILES} files in src/`, () => {
    const root = readFiles('src/*.ts');
    expect(root.length).toBeLessThanOrEqual(MAX_ROOT_FILES);
    const steps = readFiles('src/startup/*.ts');
    expect(steps.length).toBeGreaterThan(10);
    expect(longFunctions([...root, ...steps], MAX_STEP_LINES)).toEqual([]);
  });

  it.each(['function step() {LINES}', 'const step = () => {LINES};', 'export const steps = { async step() {LINES} };'])(
    'a planted long step is reported: %s',
    (form) => {
      const withLines = (lines: number) => aFile(form.replace('LINES', '\n'.repeat(lines)));
      expect(longFunctions([withLines(MAX_STEP_LINES - 1)], MAX_STEP_LINES)).toEqual([]);
      expect(longFunctions([withLines(MAX_STEP_LINES)], MAX_STEP_LINES)).toEqual([
        `rest-shims/canary.ts: ${MAX_STEP_LINES + 1}`,
      ]);
    },
  );

  it.each(FORBIDDEN_FORMS)('no file contains $name', ({ name, form, canary }) => {
    expect(occurrences([aFile(canary)], form)).toHaveLength(1);
    const files = readFiles(...ALL_CODE).filter(
      ({ path }) => !WITH_DEFAULT_EXPORT.has(path) && path !== 'test/house/sources.test.ts',
    );
    const judged = name === 'any' ? files.map(({ path, text }) => ({ path, text: withoutComments(text) })) : files;
    expect(occurrences(judged, form)).toEqual([]);
  });

  it('the environment is read by the settings, and by the entry of the command, only', () => {
    const form = /\bprocess\s*(\.env\b|\[)|node:process/;
    for (const canary of ["const port = process.env['PORT'];", "import { env } from 'node:process';", "process['env']"])
      expect(occurrences([aFile(canary)], form)).toHaveLength(1);
    const files = readFiles(...CODE).map(({ path, text }) => ({ path, text: withoutComments(text) }));
    const found = occurrences(files, form);
    expect(found).toEqual([
      expect.stringMatching(/^lite\/main\.ts:/),
      expect.stringMatching(/^src\/runtime\/settings\/process-environment\.ts:/),
    ]);
  });

  it('the accounting of a call is settled in the gateway only', () => {
    const form = /\.settle\(/;
    for (const canary of ['reservation.settle(cost);', 'await this.#reserved?.settle(null);'])
      expect(occurrences([aFile(canary)], form)).toHaveLength(1);
    const files = readFiles(...CODE).map(({ path, text }) => ({ path, text: withoutComments(text) }));
    const found = occurrences(files, form);
    expect(found.length).toBeGreaterThan(5);
    expect(found.filter((occurrence) => !occurrence.startsWith('src/gateway/'))).toEqual([]);
  });

  it('no function literal is assigned to a property: it would keep its scope until the next full collection', () => {
    const canary =
      'answer.abort = (failure: Error): void => fail(failure);\nthis.#open = function () {};\nx.y = abort;';
    expect(assignedFunctions([aFile(canary)])).toEqual(['rest-shims/canary.ts:1', 'rest-shims/canary.ts:2']);
    expect(assignedFunctions(readFiles(...CODE))).toEqual([]);
  });

  it('no module creates an object of Intl when it is loaded: locale data takes 5 MiB', () => {
    const form = /^(export )?(const|let) \w+(: [^=]+)? = new Intl\./;
    expect(occurrences([aFile("const DAY = new Intl.DateTimeFormat('en-US');")], form)).toHaveLength(1);
    expect(occurrences(readFiles(...CODE), form)).toEqual([]);
  });

  it("no store uses the ORM's own transaction, which does not return a failed connection to the pool", () => {
    const form = /\.(transactional|flush|startTransaction)\(/;
    for (const canary of ['await em.transactional(work);', 'await em.flush();'])
      expect(occurrences([aFile(canary)], form)).toHaveLength(1);
    const sources = readFiles('src/persistence/**/*.ts').filter(
      ({ path }) => path !== 'src/persistence/database/transaction.ts',
    );
    const files = sources.map(({ path, text }) => ({ path, text: withoutComments(text) }));
    expect(occurrences(files, form)).toEqual([]);
  });

  it('operations and transports hold no cache in a module: a cache belongs to an object of the composition root', () => {
    const form =
      /^(export )?(const|let) \w+(: [^=]+)? = (new (Weak)?(Map|Set)(<[^()]*>?)?(\(\)|$)|new \w*(LRU|Cache)|createWeightedCache)/;
    const canaries = [
      'const kept = new WeakMap<CatalogSource, Kept>();',
      'export const names: Map<string, string> = new Map();',
      'const judged = new WeakMap<',
      'const recent = new LRUCache({ max: 5 });',
      'const found = createWeightedCache<Found>(5, weightOf);',
      'const bodies = new WeakMap<object, Uint8Array>();',
    ];
    for (const canary of canaries) expect(occurrences([aFile(canary)], form)).toHaveLength(1);
    const tables = [
      "const WORDS = new Set(['a', 'b']);",
      'const NAMES = new Map([',
      '  const seen = new Map<string, Item>();',
    ];
    expect(occurrences([aFile(tables.join('\n'))], form)).toEqual([]);
    expect(occurrences(readFiles('resolvers/**/*.ts', 'schema/**/*.ts', 'rest-shims/**/*.ts'), form)).toEqual([]);
  });

  it('objects of JSON have one type and one guard', () => {
    const alias = /^(export )?type \w+ = Readonly<Record<string, unknown>>;/;
    const guard = /typeof (\w+) (===|!==) 'object' (&&|\|\|) !?\1 (===|!==) null (&&|\|\|) !?Array\.isArray\(\1\)/;
    const canaries = [
      'type Fields = Readonly<Record<string, unknown>>;',
      "  typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};",
      "if (typeof sent !== 'object' || sent === null || Array.isArray(sent)) return null;",
    ];
    for (const canary of canaries)
      expect([...occurrences([aFile(canary)], alias), ...occurrences([aFile(canary)], guard)]).toHaveLength(1);
    const files = readFiles(...CODE).filter(({ path }) => path !== 'src/domain/json-object.ts');
    expect([...occurrences(files, alias), ...occurrences(files, guard)]).toEqual([]);
  });

  it('no file contains a path of a development machine', () => {
    const files = readFiles(
      '**/*.{ts,tsx,mjs,json,md,yaml,graphql,sql}',
      '.*.json',
      '.ci/*',
      '.npmrc',
      'package-lock.json',
    );
    expect(files.length).toBeGreaterThan(100);
    expect(occurrences(files, MACHINE_PATH)).toEqual([]);
    expect(occurrences([aFile(`see ${['', 'work', 'shared'].join('/')}`)], MACHINE_PATH)).toHaveLength(1);
  });

  it('the lock file names no registry, so that every machine uses its own', () => {
    const [lock] = readFiles('package-lock.json');
    expect(occurrences(lock ? [lock] : [], /"resolved": "http/)).toEqual([]);
    expect(occurrences([aFile('"resolved": "https://registry.example/x.tgz"')], /"resolved": "http/)).toHaveLength(1);
  });
});
