// Preloaded (node --import) into the product to measure its accounting: no call is encoded or stored.
import { registerHooks } from 'node:module';

const WITHOUT: Readonly<Record<string, string>> = {
  '/src/persistence/call-log/store.ts':
    "export const createCallStore = () => ({ encode: () => ({ callId: '', traceId: '' }), append: async () => async () => [], backlog: () => 0, unfold: async () => [], async readable() {} }); export const assertStorableCall = () => {};",
  '/src/runtime/tasks/write-behind.ts':
    'export const createWriteBehind = () => ({ push() {}, async flush() {}, async caughtUp() {}, waiting: () => 0, settledCount: () => 0, betweenCommits: (read) => read() });',
};

registerHooks({
  load(url, context, next) {
    const source = Object.entries(WITHOUT).find(([path]) => url.endsWith(path))?.[1];
    return source === undefined ? next(url, context) : { format: 'module', source, shortCircuit: true };
  },
});
