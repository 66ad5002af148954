import { randomBytes } from 'node:crypto';
import { MikroORM } from '@mikro-orm/postgresql';

/** Runs a statement on a server. Uses no entities, because their discovery takes longer than the statement. */
export async function executeOnServer(url: string, statement: string): Promise<void> {
  const orm = new MikroORM({ clientUrl: url, entities: [], discovery: { warnWhenNoEntities: false } });
  try {
    await orm.em.getConnection().execute(statement);
  } finally {
    await orm.close();
  }
}

/** Creates a database with a unique name, as a copy of `template` if given. */
export async function createDatabase(server: string, template?: string): Promise<{ name: string; url: string }> {
  const name = `lensgate_test_${randomBytes(6).toString('hex')}`;
  await executeOnServer(server, `create database ${name}${template === undefined ? '' : ` template ${template}`}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return { name, url: url.href };
}

export async function dropDatabase(server: string, name: string): Promise<void> {
  await executeOnServer(server, `drop database ${name} with (force)`);
}
