import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type JudgeServer, startJudge } from '../../bench/lens/judge-server.ts';

const execute = promisify(execFile);
const ROOT = join(import.meta.dirname, '../..');

let judge: JudgeServer;
let folder: string;
beforeAll(async () => {
  judge = await startJudge();
  folder = mkdtempSync(join(tmpdir(), 'lensgate-bench-test-'));
});
afterAll(async () => {
  await judge.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function bench(...args: readonly string[]): Promise<string> {
  const command = ['bench/lens.ts', '--runs', '24', '--dry', ...args];
  const { stdout } = await execute(process.execPath, command, {
    cwd: ROOT,
    env: { ...process.env, REVIEWER_KEY: 'k' },
  });
  return stdout;
}

/** Matches when the desired bounds of all three goals of quality are met and no speed is measured. */
const WITHIN_DESIRED =
  /\| Precision .* within desired \|\n\| Recall .* within desired \|\n\| Quotes that are in their span .* within desired \|\n\n/;

describe('bench:lens', () => {
  it('calls any OpenAI-compatible model that a configuration file names', async () => {
    const config = join(folder, 'config.yaml');
    writeFileSync(
      config,
      `model_list:
  - model_name: other
    litellm_params: { model: openai/other, api_base: 'http://127.0.0.1:1/v1', api_key: k }
  - model_name: mine
    litellm_params: { model: openai/tiny, api_base: '${judge.base}', api_key: os.environ/REVIEWER_KEY }
`,
    );
    const before = judge.calls();
    const text = await bench('--config', config, '--model', 'mine');
    // One of three executions has a failure: 24 executions have 8 findings.
    expect(text).toContain(`Reviewer: mine of ${config}. 24 executions, 24 reviewed, 8 findings`);
    expect(text).toMatch(WITHIN_DESIRED);
    expect(judge.calls() - before).toBeGreaterThan(24);
  });

  it('calls a model that its arguments name', async () => {
    const text = await bench('--upstream', 'openai/tiny', '--api-base', judge.base, '--key-env', 'REVIEWER_KEY');
    expect(text).toContain('Reviewer: openai/tiny. 24 executions, 24 reviewed');
    expect(text).toMatch(WITHIN_DESIRED);
  });

  it('reports a model that is not in the file', async () => {
    const config = join(folder, 'empty.yaml');
    writeFileSync(config, 'model_list: []\n');
    await expect(bench('--config', config, '--model', 'mine')).rejects.toThrow('`model_list` has no model mine');
  });
});
