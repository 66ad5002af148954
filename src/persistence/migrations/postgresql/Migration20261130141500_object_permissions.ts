import { Migration } from '@mikro-orm/migrations';

const TABLES = ['team', 'user_account', 'organization', 'customer'];

/** Rights of the owners of keys over MCP servers, agents and vector stores. */
export class Migration20261130141500_object_permissions extends Migration {
  override up(): void {
    for (const table of TABLES) this.addSql(`alter table "${table}" add column "object_permission" json null`);
  }

  override down(): void {
    for (const table of TABLES) this.addSql(`alter table "${table}" drop column "object_permission"`);
  }
}
