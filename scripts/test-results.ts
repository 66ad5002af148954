// Counts the tests of a run for `.ci/run`. A file with failed tests runs once more, alone, if its tier starts servers.
// Its tests count as failed when they fail both times.
//   node scripts/test-results.ts files REPORT                      files to run again, one a line
//   node scripts/test-results.ts counts REPORT [SECOND [FOLDER]]   prints `PASSED FAILED SKIPPED`; writes `failures` and
//                                                                  `second-runs` into FOLDER
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';

/**
 * Tiers whose tests start servers: they use processes, sockets and timers, and other load of the machine can delay
 * them.
 */
const WITH_SERVERS = /^test\/(?:contract|graph|parity|ports|providers|clients|e2e|browser)\//;
/** More failed files than this have a common cause, which a second run does not remove. */
const MOST_REPEATED = 20;
/** Maximum length of the messages of one failure, in characters. */
const MOST_MESSAGE = 3_000;

interface TestResult {
  readonly fullName: string;
  readonly status: string;
  readonly failureMessages?: readonly string[] | null;
}

interface FileResult {
  /** Absolute path. */
  readonly name: string;
  readonly status: string;
  readonly message?: string;
  readonly assertionResults: readonly TestResult[];
}

/** Suffix of the name of an outcome of a file: its import or a hook failed, not a test. */
const THE_FILE = ': the file itself';

/** A report of the test runner in JSON. */
export interface Report {
  readonly testResults?: readonly FileResult[];
}

export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** Failed tests with their messages. */
  readonly failures: readonly string[];
  /** Names of tests that failed first and passed in the second run. */
  readonly secondRuns: readonly string[];
}

/** Outcome of one test, or of the import and the hooks of a file. */
interface Outcome {
  readonly name: string;
  readonly status: string;
  readonly message: string;
}

/** Outcomes of a file. A file that fails without a failed test has one for itself. */
function outcomesOf({ name: file, status, message = '', assertionResults }: FileResult, root: string): Outcome[] {
  const path = relative(root, file);
  const outcomes = assertionResults.map(({ fullName, status: state, failureMessages }) => ({
    name: `${path}: ${fullName}`,
    status: state,
    message: (failureMessages ?? []).join('\n').slice(0, MOST_MESSAGE),
  }));
  if (status === 'failed' && !outcomes.some((one) => one.status === 'failed'))
    outcomes.push({ name: `${path}${THE_FILE}`, status: 'failed', message: message.slice(0, MOST_MESSAGE) });
  return outcomes;
}

/** Files with failures that run once more; none where too many failed. */
export function filesToRepeat({ testResults = [] }: Report, root: string): readonly string[] {
  const failed = testResults.filter(({ status }) => status === 'failed').map(({ name }) => relative(root, name));
  const repeated = failed.filter((path) => WITH_SERVERS.test(path));
  return repeated.length > MOST_REPEATED ? [] : repeated;
}

/** Outcomes by name. A failed test takes precedence over others with the same name. */
function byName(outcomes: readonly Outcome[]): ReadonlyMap<string, Outcome> {
  const found = new Map<string, Outcome>();
  for (const one of outcomes) if (found.get(one.name)?.status !== 'failed') found.set(one.name, one);
  return found;
}

/** State of an outcome after both runs; `again` has the outcomes of its file in the second run, null without one. */
function finalState({ name, status }: Outcome, again: ReadonlyMap<string, Outcome> | null): string {
  if (status === 'passed' || again === null) return status;
  // A file whose import and hooks passed has no outcome of its own.
  const later = again.get(name)?.status ?? (name.endsWith(THE_FILE) ? 'passed' : status);
  // A failed test that the second run skips stays failed.
  return status === 'failed' && later !== 'passed' ? 'failed' : later;
}

/** `second` is the report of the second run of `filesToRepeat`; null when there was none. */
export function countTests(first: Report, second: Report | null, root: string): Counts {
  const repeated = new Map((second?.testResults ?? []).map((file) => [file.name, file]));
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const failures: string[] = [];
  const secondRuns: string[] = [];
  for (const file of first.testResults ?? []) {
    const fileAgain = repeated.get(file.name);
    const again = fileAgain === undefined ? null : byName(outcomesOf(fileAgain, root));
    for (const outcome of outcomesOf(file, root)) {
      const { name, status, message } = outcome;
      const state = finalState(outcome, again);
      if (status === 'failed' && state === 'passed') secondRuns.push(name);
      if (state === 'failed') failures.push(`${name}\n${again?.get(name)?.message ?? message}`);
      if (state === 'failed') counts.failed += 1;
      else if (name.endsWith(THE_FILE)) continue;
      else if (state === 'passed') counts.passed += 1;
      else counts.skipped += 1;
    }
  }
  return { ...counts, failures, secondRuns };
}

/** The report in a file; empty when the file is missing or is not JSON. */
function read(file: string): Report {
  if (!existsSync(file)) return {};
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Report;
  } catch {
    return {};
  }
}

if (import.meta.main) {
  const [command, report = '', second = '', folder = ''] = process.argv.slice(2);
  const root = process.cwd();
  if (command === 'files') for (const file of filesToRepeat(read(report), root)) console.log(file);
  else {
    const counts = countTests(read(report), second === '' ? null : read(second), root);
    if (folder !== '') {
      writeFileSync(join(folder, 'failures'), counts.failures.join('\n\n'));
      writeFileSync(
        join(folder, 'second-runs'),
        counts.secondRuns.map((name) => `needed a second run: ${name}\n`).join(''),
      );
    }
    console.log(`${counts.passed} ${counts.failed} ${counts.skipped}`);
  }
}
