import { ENGINES, type ScratchDatabase } from '../ports/engines.ts';
import { startApp, type TestApp } from './start-app.ts';

const engine = ENGINES.find(({ name }) => name === 'postgresql');

/** Whether the PostgreSQL server for tests is missing. */
export const LACKS_POSTGRESQL = engine === undefined || engine.skipReason !== null;

/** Two apps over one PostgreSQL database, like two processes. */
export interface TwoApps {
  readonly here: TestApp;
  readonly there: TestApp;
  readonly scratch: ScratchDatabase;
  /** Stops both apps and drops the database. */
  stop(): Promise<void>;
}

/** Starts two apps with the same settings over a new database. `admin` sets their admin key. */
export async function startTwoApps(
  admin: string,
  { env = {}, config }: { readonly env?: Record<string, string>; readonly config?: Record<string, unknown> } = {},
): Promise<TwoApps> {
  if (engine === undefined) throw new Error('There is no such engine.');
  const scratch = await engine.create();
  const options = {
    env: { DATABASE_URL: String(scratch.options.databaseUrl), LITELLM_MASTER_KEY: admin, ...env },
    ...(config === undefined ? {} : { config }),
  };
  const here = await startApp(options);
  const there = await startApp(options);
  return {
    here,
    there,
    scratch,
    async stop() {
      await here.stop();
      await there.stop();
      await scratch.remove();
    },
  };
}
