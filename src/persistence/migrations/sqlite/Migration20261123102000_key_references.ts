import { Migration } from '@mikro-orm/migrations';

/** Project and organization of keys. */
export class Migration20261123102000_key_references extends Migration {
  override up(): void {
    this.addSql('alter table "virtual_key" add column "project_id" text null');
    this.addSql('alter table "virtual_key" add column "organization_id" text null');
    this.addSql('create index "virtual_key_project_id_index" on "virtual_key" ("project_id")');
    this.addSql('create index "virtual_key_organization_id_index" on "virtual_key" ("organization_id")');
  }

  override down(): void {
    this.addSql('drop index "virtual_key_project_id_index"');
    this.addSql('drop index "virtual_key_organization_id_index"');
    this.addSql('alter table "virtual_key" drop column "project_id"');
    this.addSql('alter table "virtual_key" drop column "organization_id"');
  }
}
