import { type Program, parseSync, Visitor } from 'oxc-parser';
import { describe, expect, it } from 'vitest';
import { readFiles, type SourceFile } from './repository.ts';

const CODE = ['src/**/*.ts', 'resolvers/**/*.ts', 'schema/**/*.ts', 'rest-shims/**/*.ts', 'lite/**/*.ts'];

/** Files that set a repeating timer themselves, with the reason. All other periodic work runs in the scheduler. */
const REPEATING: Readonly<Record<string, string>> = {
  'src/runtime/tasks/scheduler.ts': 'The scheduler.',
  // Deadlines or heartbeats, with one timer for each call or connection, or one for all of a kind.
  'src/gateway/calls/reserved-calls.ts': 'Renews the reservation of one model call while it runs.',
  'rest-shims/helpers/http/answer-writer.ts': 'Heartbeat of one stream.',
  'src/graphql/event-streams.ts': 'Heartbeat of open streams.',
  'src/http/fast-path/fast-path.ts': 'Deadlines of connections, as in the server of Node.',
  'src/persistence/database/process-messages.ts': 'Checks one connection, and opens it again.',
  'src/runtime/http-client/deadline-watch.ts': 'Deadlines of calls and connections, on the path of each call.',
  'lite/commands/up.ts': 'Keeps the process of the command alive until a signal.',
  'src/startup/shutdown-stack.ts': 'Deadline of one step, in parts.',
  // Batches: a timer is set while items wait, and after a failure.
  'src/runtime/cache-changes.ts': 'Sends changes that wait.',
  'src/runtime/tasks/call-unfolding.ts': 'Unfolds calls that wait.',
  'src/runtime/tasks/write-behind.ts': 'Commits records that wait.',
  'src/runtime/telemetry/span-exporter.ts': 'Sends spans that wait.',
};

/** Part of a source text, by offsets. */
interface SourceRange {
  readonly start: number;
  readonly end: number;
}

interface Named extends SourceRange {
  readonly name: string;
}

/** Named functions, used names, and calls of timers. */
function factsOf(program: Program) {
  const functions: Named[] = [];
  const names: Named[] = [];
  /** Positions of member names of other objects than `this`. They are not functions of the file. */
  const foreign = new Set<number>();
  const timers: (Named & { readonly callback: SourceRange | null })[] = [];
  const named = (key: object | null, value: SourceRange | null): void => {
    if (key === null || value === null || !('name' in key) || typeof key.name !== 'string') return;
    if ('type' in value && String(value.type).includes('Function'))
      functions.push({ name: key.name, start: value.start, end: value.end });
  };
  const read = ({ name, start, end }: Named): void => void names.push({ name, start, end });
  new Visitor({
    FunctionDeclaration: (node) => named(node.id, node),
    VariableDeclarator: ({ id, init }) => named(id, init),
    Property: ({ key, value }) => named(key, value),
    MethodDefinition: ({ key, value }) => named(key, value),
    PropertyDefinition: ({ key, value }) => named(key, value),
    MemberExpression({ object, property, computed }) {
      if (object.type !== 'ThisExpression' && !computed) foreign.add(property.start);
    },
    Identifier: read,
    PrivateIdentifier: read,
    CallExpression({ callee, arguments: [callback = null], start, end }) {
      const name = 'name' in callee && typeof callee.name === 'string' ? callee.name : '';
      if (/^set(Interval|Timeout)$/.test(name)) timers.push({ name, start, end, callback });
    },
  }).visit(program);
  return { functions, names: names.filter(({ start }) => !foreign.has(start)), timers };
}

const contains = (outer: SourceRange, inner: SourceRange): boolean =>
  outer.start <= inner.start && inner.end <= outer.end;

/** Files with `setInterval`, or with a `setTimeout` whose callback leads to the function that sets it. */
function repeatingTimers(files: readonly SourceFile[]): readonly string[] {
  return files
    .filter(({ text }) => /\bset(Interval|Timeout)\(/.test(text))
    .filter(({ path, text }) => {
      const { functions, names, timers } = factsOf(parseSync(path, text).program);
      const readIn = (range: SourceRange): readonly string[] =>
        names.filter((used) => contains(range, used)).map(({ name }) => name);
      return timers.some(({ name, callback, ...call }) => {
        if (name === 'setInterval') return true;
        if (callback === null) return false;
        // Names that the callback reads, and that the functions of these names read in turn.
        const reached = new Set(readIn(callback));
        for (const reachedName of reached)
          for (const callee of functions)
            if (callee.name === reachedName) for (const used of readIn(callee)) reached.add(used);
        // Whether a function of such a name contains this call: it then sets its timer again.
        return functions.some(
          (setter) => contains(setter, call) && !contains(callback, setter) && reached.has(setter.name),
        );
      });
    })
    .map(({ path }) => path);
}

describe('timers', () => {
  it('repeat only in the scheduler and in the listed files', () => {
    const found = repeatingTimers(readFiles(...CODE));
    expect(found).toEqual(Object.keys(REPEATING).toSorted());
  });

  it.each([
    'const timer = setInterval(work, 1_000);',
    'function plan() { setTimeout(() => { work(); plan(); }, 1_000); }',
    'function plan() { setTimeout(plan, 1_000).unref(); }',
    'function plan() { timer = setTimeout(look, 1_000); } async function look() { await work(); plan(); }',
    'const plan = () => { setTimeout(() => void work().then(plan), 1_000); };',
    'class A { #plan() { setTimeout(() => this.#run(), 1_000); } async #run() { await work(); this.#plan(); } }',
    'export const polls = { plan() { setTimeout(() => this.plan(), 1_000); } };',
  ])('a planted repeating timer is reported: %s', (text) => {
    expect(repeatingTimers([{ path: 'src/canary.ts', text }])).toEqual(['src/canary.ts']);
  });

  it.each([
    'function begin() { const timer = setTimeout(() => fail(), 1_000); }',
    'function begin() { setTimeout(end, 1_000); } function end() { socket.destroy(); }',
    'async function work() { for (;;) await pause(1_000); }',
    'const warnings = { warn() { setTimeout(() => log.warn(), 1_000); } };',
  ])('a single timer is not reported: %s', (text) => {
    expect(repeatingTimers([{ path: 'src/canary.ts', text }])).toEqual([]);
  });
});
