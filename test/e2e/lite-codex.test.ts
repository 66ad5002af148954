import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { createLiteHome, type LiteHome } from '../support/lite-process.ts';
import { startApp, type TestApp } from '../support/start-app.ts';

let app: TestApp;
let home: LiteHome;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.stop());
beforeEach(() => {
  home = createLiteHome();
  mkdirSync(join(home.folder, '.codex'));
});
afterEach(() => home.remove());

const file = (): string => join(home.folder, '.codex', 'config.toml');
const settings = (): string => readFileSync(file(), 'utf8');
const exists = (): boolean => statSync(file(), { throwIfNoEntry: false }) !== undefined;

const ORIGINAL = `# mine
profile = "work"
model = "gpt-5"   # the best
approval_policy = "never"

[profiles.work]
model = "o3"
`;
/** The command that configures Codex for the app. */
const configureWords = (): string[] => [
  'configure',
  'codex',
  '--api-key',
  app.adminKey,
  '--gateway-url',
  app.url,
  '--model',
  'demo',
];
/** The blocks that the command writes: the selection of the provider, and the provider. */
const blocks = (): readonly [string, string] => [
  `# >>> lite configure codex
model_provider = "litellm"
model = "demo"
# <<< lite configure codex
`,
  `# >>> lite configure codex
[model_providers.litellm]
name = "LiteLLM proxy"
base_url = "${app.url}/v1"
wire_api = "responses"
supports_websockets = false
requires_openai_auth = false
http_headers = { Authorization = "Bearer ${app.adminKey}" }
# <<< lite configure codex
`,
];
/** `ORIGINAL` without the statements that select a provider or model. */
const rest = '# mine\napproval_policy = "never"\n\n[profiles.work]\nmodel = "o3"\n';

it('configure selects provider and model, and applies the saved setup again; unconfigure restores the original bytes', async () => {
  home.install('codex');
  writeFileSync(file(), ORIGINAL);
  const first = await home.run(configureWords());
  expect(first).toMatchObject({ code: 0, stderr: '' });
  expect(first.stdout).not.toContain(app.adminKey);
  const [selection, provider] = blocks();
  expect(settings()).toBe(selection + rest + provider);
  expect(statSync(file()).mode & 0o777).toBe(0o600);
  expect(await home.run(['configure'])).toMatchObject({ code: 0, stderr: '' });
  expect(settings()).toBe(selection + rest + provider);
  expect(await home.run(['unconfigure', 'codex'])).toMatchObject({ code: 0, stderr: '' });
  expect(settings()).toBe(ORIGINAL);
});

it('unconfigure keeps other changes of the person', async () => {
  home.install('codex');
  writeFileSync(file(), ORIGINAL);
  await home.run(configureWords());
  writeFileSync(file(), `${settings()}\n[added]\nx = 1\n`);
  await home.run(configureWords());
  await home.run(['unconfigure', 'codex', '--forget']);
  expect(settings()).toBe(`profile = "work"\nmodel = "gpt-5"   # the best\n${rest}\n[added]\nx = 1\n`);
  expect(await home.run(['configure', 'codex'])).toMatchObject({ code: 1 });
});

it('unconfigure keeps a block that the person has changed', async () => {
  home.install('codex');
  await home.run(configureWords());
  writeFileSync(file(), settings().replace('model = "demo"', 'model = "other"'));
  const undone = await home.run(['unconfigure', 'codex']);
  expect(undone.stdout).toContain('Left as you changed them since');
  expect(settings()).toContain('model = "other"');
  expect(settings()).not.toContain(app.adminKey);
});

it('unconfigure removes a file that did not exist before', async () => {
  home.install('codex');
  await home.run(configureWords());
  expect((await home.run(['unconfigure', 'codex'])).stdout).toContain(`Removed ${file()}`);
  expect(exists()).toBe(false);
});

it('configure refuses a missing or old Codex, a missing model, and an own provider `litellm`', async () => {
  expect(await home.run(configureWords())).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^Error: Codex 0\.129\.0 or newer \(stable\) must be installed/),
  });
  home.install('codex');
  expect(await home.run(configureWords(), { env: { PROGRAM_VERSION: '0.128.9' } })).toMatchObject({ code: 1 });
  expect(await home.run(configureWords().slice(0, -2))).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("Error: Missing option '--model'."),
  });
  expect(exists()).toBe(false);
  const own = '[model_providers.litellm]\nname = "mine"\n';
  writeFileSync(file(), own);
  expect(await home.run(configureWords())).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('has its own provider'),
  });
  expect(settings()).toBe(own);
});
