import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '..', '..');

/** Folder of a minimal project that the real scripts start. */
let project: string;
beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), "lensgate's bundle-"));
  cpSync(join(ROOT, 'scripts'), join(project, 'scripts'), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(project, 'node_modules'));
  write('package.json', '{ "type": "module" }');
  write('src/main.ts', "import { word } from './word.ts';\nconsole.log(word as string, new Error().stack);\n");
  write('src/word.ts', "export const word: string = 'one';\n");
});
afterEach(() => {
  rmSync(project, { recursive: true, force: true });
});

/** Writes a file with a modification time in the past. The default is an hour ago. A later write is then a change. */
function write(path: string, text: string, agoMs = 3_600_000): void {
  const file = join(project, path);
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, text);
  const modifiedAt = new Date(Date.now() - agoMs);
  utimesSync(file, modifiedAt, modifiedAt);
}

/** Starts the project. `output` is the first printed word, and `file` the first project file of the printed stack. */
async function start(): Promise<{ output: string; file: string; errors: string }> {
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [join(project, 'scripts/start.mjs')]);
  const [, output = '', file = ''] = /^(\w+) [^]*?((?:src|dist\/\w+)\/\w+\.\w+):\d+/.exec(stdout) ?? [];
  return { output, file, errors: stderr };
}

const bundles = (): readonly string[] =>
  readdirSync(join(project, 'dist'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .toSorted();

const IN_BUNDLE = /^dist\/[0-9a-f]{16}\/main\.js$/;
const FROM_SOURCES = 'Lensgate starts from its sources: slower, and with twice the memory.\n';

describe('a start', () => {
  it('makes a bundle where none exists, and runs it at later starts', async () => {
    const first = await start();
    expect(first).toEqual({ output: 'one', file: expect.stringMatching(IN_BUNDLE), errors: '' });
    const { mtimeMs } = statSync(join(project, first.file));
    expect(await start()).toEqual(first);
    expect(statSync(join(project, first.file)).mtimeMs).toBe(mtimeMs);
    expect(bundles()).toHaveLength(1);
  });

  it.each([
    ['to another length', "export const word: string = 'three';\n", 3_600_000],
    ['to the same length, at a later time', "export const word: string = 'two';\n", 1_000],
    ['to the same length, at an earlier time', "export const word: string = 'two';\n", 9_000_000],
  ])('makes a new bundle after a change %s', async (_kind, text, agoMs) => {
    const before = await start();
    write('src/word.ts', text, agoMs);
    const after = await start();
    expect(after).toEqual({ output: /'(\w+)'/.exec(text)?.[1], file: expect.stringMatching(IN_BUNDLE), errors: '' });
    expect(after.file).not.toBe(before.file);
  });

  it('resolves the media types of Koa that an extension names', async () => {
    write(
      'src/main.ts',
      `import Koa from 'koa';
      import { IncomingMessage, ServerResponse } from 'node:http';
      import { Socket } from 'node:net';
      const request = new IncomingMessage(new Socket());
      Object.assign(request.headers, { accept: 'text/html', 'content-type': 'image/png', 'content-length': '1' });
      const context = new Koa().createContext(request, new ServerResponse(request));
      context.type = 'json';
      const found = [context.type, context.accepts('json', 'html'), context.is('png'), context.is('html')];
      console.log(found.join().replaceAll(/\\W/g, '_'), new Error().stack);\n`,
    );
    expect(await start()).toMatchObject({
      output: 'application_json_html_png_false',
      file: expect.stringMatching(IN_BUNDLE),
      errors: '',
    });
  });

  it('makes no bundle when only the time of a file changed', async () => {
    const before = await start();
    write('src/word.ts', "export const word: string = 'one';\n", 1_000);
    expect(await start()).toEqual(before);
    expect(bundles()).toHaveLength(1);
  });

  it('detects a module added to or removed from a folder that is read by pattern', async () => {
    write(
      'src/main.ts',
      'import { readdirSync } from "node:fs";\n' +
        'const folder = (kind: string) => new URL(`./steps/${kind}/`, import.meta.url);\n' +
        "const steps = readdirSync(folder('a')).map((name) => name.slice(0, 1));\n" +
        'console.log(steps.join(""), new Error().stack);\n',
    );
    write('src/steps/a/x.ts', 'export const x: number = 1;\n');
    expect((await start()).output).toBe('x');
    write('src/steps/a/y.ts', 'export const y: number = 1;\n');
    expect((await start()).output).toBe('xy');
    rmSync(join(project, 'src/steps/a/x.ts'));
    expect((await start()).output).toBe('y');
  });

  it('runs the sources with a warning when they cannot be bundled, and keeps the old bundle', async () => {
    await start();
    const before = bundles();
    write('src/word.ts', "import './absent.ts';\nexport const word: string = 'never';\n");
    // The sources fail, too, because they import a file that does not exist.
    await expect(start()).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^Lensgate could not be bundled: [\s\S]+absent[\s\S]+twice the memory\.\n/),
    });
    expect(bundles()).toEqual(before);
  });

  it('runs the sources with a warning where nothing can be written', async () => {
    writeFileSync(join(project, 'dist'), 'a file where the folder should be');
    const { output, file, errors } = await start();
    expect([output, file]).toEqual(['one', 'src/main.ts']);
    expect(errors).toMatch(/^Lensgate could not be bundled: .+\n/);
    expect(errors.endsWith(FROM_SOURCES)).toBe(true);
  });

  it('runs the sources when one of them locates files in a way that does not work in a bundle', async () => {
    write('src/word.ts', "export const word: string = new URL('x', import.meta.url).pathname.slice(-1);\n");
    const { file, errors } = await start();
    expect(file).toMatch(/src\/main\.ts$/);
    expect(errors).toContain('src/word.ts uses import.meta in a form that the bundler does not support');
  });

  it('keeps the last three bundles, for processes that run them', async () => {
    for (const word of ['a', 'b', 'c', 'd']) {
      write('src/word.ts', `export const word: string = '${word}';\n`);
      expect((await start()).output).toBe(word);
    }
    expect(bundles()).toHaveLength(3);
    write('src/word.ts', "export const word: string = 'b';\n");
    expect((await start()).output).toBe('b');
  });

  it('shares one bundle with concurrent starts', async () => {
    const answers = await Promise.all([start(), start(), start()]);
    expect(answers.map(({ output, errors }) => [output, errors])).toEqual([
      ['one', ''],
      ['one', ''],
      ['one', ''],
    ]);
    expect(bundles()).toHaveLength(1);
  });
});

describe('an install', () => {
  const install = () => promisify(execFile)(process.execPath, [join(project, 'scripts/bundle.mjs'), '--after-install']);

  it('makes the bundle that the first start runs', async () => {
    expect(await install()).toEqual({ stdout: '', stderr: '' });
    expect(bundles()).toEqual([(await start()).file.split('/')[1]]);
  });

  it('succeeds without the sources, and with sources that cannot be bundled', async () => {
    write('src/word.ts', 'export const word = ;\n');
    expect((await install()).stderr).toMatch(/^Lensgate could not be bundled: /);
    rmSync(join(project, 'src'), { recursive: true });
    expect(await install()).toEqual({ stdout: '', stderr: '' });
  });
});

describe('the product', () => {
  it('runs from its bundle alone, without type stripping, also in its threads', async () => {
    for (const folder of ['src', 'resolvers', 'schema', 'rest-shims', 'data'])
      cpSync(join(ROOT, folder), join(project, folder), { recursive: true });
    const dataDir = join(project, 'data-folder');
    const server = spawn(process.execPath, ['--no-strip-types', join(project, 'scripts/start.mjs'), '--port', '0'], {
      env: {
        PATH: process.env['PATH'] ?? '',
        LENSGATE_DATA_DIR: dataDir,
        LENSGATE_LOG_LEVEL: 'warn',
        LENSGATE_SQLITE_DRIVER: 'node:sqlite',
        LITELLM_MASTER_KEY: 'sk-bundle-test-0123456789',
        LENSGATE_CATALOG_REFRESH_SECONDS: '3600',
        LITELLM_MODEL_COST_MAP_URL: join(project, 'map.json'),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const errorOutput: string[] = [];
    server.stderr.on('data', (chunk: Buffer) => errorOutput.push(chunk.toString()));
    const exited = once(server, 'exit');
    try {
      const url = await new Promise<string>((resolve, reject) => {
        let output = '';
        server.stdout.on('data', (chunk: Buffer) => {
          output += chunk.toString();
          const ready = /ready at (http:\S+)/.exec(output)?.[1];
          if (ready !== undefined) resolve(ready);
        });
        void exited.then(() => reject(new Error(errorOutput.join(''))));
      });
      const headers = { authorization: 'Bearer sk-bundle-test-0123456789', 'content-type': 'application/json' };
      const ask = async (path: string, body?: object): Promise<readonly [number, string]> => {
        const answer = await fetch(`${url}${path}`, {
          headers,
          ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
        });
        return [answer.status, await answer.text()];
      };
      const messages = [{ role: 'user', content: 'Hello' }];
      expect((await ask('/v1/chat/completions', { model: 'demo', messages }))[0]).toBe(200);
      expect((await ask('/model_catalog/gpt-4o'))[0]).toBe(200);
      expect((await ask('/model_catalog?model=re:^gpt-4'))[0]).toBe(200);
      expect(await ask('/graphql', { query: '{ __typename }' })).toEqual([200, '{"data":{"__typename":"Query"}}']);
      expect((await ask('/metrics'))[1]).toContain('lensgate_catalog_entries');
      // These requests use three threads: for the page of GraphiQL, for a large export and for the database.
      const page = await fetch(`${url}/graphql`, { headers: { accept: 'text/html' } });
      expect([page.status, (await page.text()).includes('<title>Lensgate GraphiQL')]).toEqual([200, true]);
      expect((await ask('/v1/traces', largeExport()))[0]).toBe(200);
      // A fourth thread reads the price map, which does not exist here.
      await expect.poll(() => errorOutput.join('')).toContain('the catalog was not refreshed');
      server.kill('SIGTERM');
      expect(await exited).toEqual([0, null]);
      expect(errorOutput.join('')).not.toMatch(/could not be bundled|from its sources|Cannot find|ERR_/);
    } finally {
      server.kill('SIGKILL');
    }
  });

  function largeExport(): object {
    const now = BigInt(Date.now()) * 1_000_000n;
    const spans = Array.from({ length: 200 }, (_, index) => ({
      traceId: '0af7651916cd43dd8448eb211c80319c',
      spanId: (index + 1).toString(16).padStart(16, '0'),
      name: 'x'.repeat(1_000),
      kind: 1,
      startTimeUnixNano: String(now),
      endTimeUnixNano: String(now + 5_000_000n),
      attributes: [],
    }));
    return { resourceSpans: [{ resource: {}, scopeSpans: [{ scope: {}, spans }] }] };
  }
});

describe.skipIf(process.platform !== 'linux')('the threads for files and SQL statements', () => {
  /** Number of libuv threads after more concurrent file operations than threads. */
  async function threadCount(env: NodeJS.ProcessEnv): Promise<number> {
    write(
      'src/main.ts',
      `import { readdirSync, readFileSync } from 'node:fs';
      import { stat } from 'node:fs/promises';
      await Promise.all(Array.from({ length: 64 }, () => stat('.')));
      const names = readdirSync('/proc/self/task').map((id) => readFileSync(\`/proc/self/task/\${id}/comm\`, 'utf8'));
      console.log(names.filter((name) => name.startsWith('libuv-worker')).length);`,
    );
    const { stdout } = await promisify(execFile)(process.execPath, [join(project, 'scripts/start.mjs')], { env });
    return Number(stdout);
  }
  const { UV_THREADPOOL_SIZE: _own, ...environment } = process.env;

  it('are one per core on two or three cores, four otherwise', async () => {
    const cores = availableParallelism();
    expect(await threadCount(environment)).toBe(cores === 1 ? 4 : Math.min(cores, 4));
  });

  it('are as many as the environment sets', async () => {
    expect(await threadCount({ ...environment, UV_THREADPOOL_SIZE: '3' })).toBe(3);
  });
});
