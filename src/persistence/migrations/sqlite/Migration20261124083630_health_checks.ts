import { Migration } from '@mikro-orm/migrations';

/** Results of probes of deployments, by every process. */
export class Migration20261124083630_health_checks extends Migration {
  override up(): void {
    this.addSql(`
      create table "health_check" (
        "id" text not null primary key,
        "deployment_id" text not null,
        "model_group" text not null,
        "latency_ms" double not null,
        "failure" json null,
        "created_at" datetime not null,
        "created_by" text not null,
        "updated_at" datetime not null,
        "updated_by" text not null,
        "revision" integer not null default 1
      )
    `);
    this.addSql('create index "health_check_created_at_id_index" on "health_check" ("created_at", "id")');
    this.addSql(
      'create index "health_check_deployment_id_created_at_index" on "health_check" ("deployment_id", "created_at")',
    );
  }

  override down(): void {
    this.addSql('drop table "health_check"');
  }
}
