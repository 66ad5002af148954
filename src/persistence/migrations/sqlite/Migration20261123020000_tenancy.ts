import { Migration } from '@mikro-orm/migrations';

/** Users, teams, members, invitations, organizations, projects, customers, budgets and tags. */
export class Migration20261123020000_tenancy extends Migration {
  override up(): void {
    this.addSql(`
      create table "budget" (
        "id" text not null primary key,
        "model_max_budget" json null,
        "allowed_models" json not null,
        "max_budget" text null,
        "soft_budget" text null,
        "budget_duration" text null,
        "budget_reset_at" datetime null,
        "rpm_limit" double null,
        "tpm_limit" double null,
        "tpd_limit" double null,
        "max_parallel_requests" double null,
        "created_at" datetime not null,
        "created_by" text not null,
        "updated_at" datetime not null,
        "updated_by" text not null,
        "revision" integer not null default 1
      )
    `);
    this.addSql('create index "budget_created_at_id_index" on "budget" ("created_at", "id")');
    this.addSql(`
      create table "customer" (
        "id" text not null primary key,
        "alias" text null,
        "blocked" integer not null,
        "allowed_model_region" text null,
        "default_model" text null,
        "budget_id" text null,
        "created_at" datetime not null,
        "created_by" text not null,
        "updated_at" datetime not null,
        "updated_by" text not null,
        "revision" integer not null default 1
      )
    `);
    this.addSql('create index "customer_created_at_id_index" on "customer" ("created_at", "id")');
    this.addSql(`
      create table "invitation" (
        "id" text not null primary key,
        "user_id" text not null,
        "is_accepted" integer not null,
        "accepted_at" datetime null,
        "expires_at" datetime not null,
        "created_at" datetime not null,
        "created_by" text not null,
        "updated_at" datetime not null,
        "updated_by" text not null,
        "revision" integer not null default 1
      )
    `);
    this.addSql('create index "invitation_user_id_index" on "invitation" ("user_id")');
    this.addSql(`
      create table "organization" (
        "id" text not null primary key,
        "alias" text not null,
        "budget_id" text not null,
        "models" json not null,
        "metadata" json not null,
        "created_at" datetime not null,
        "created_by" text not null,
        "updated_at" datetime not null,
        "updated_by" text not null,
        "revision" integer not null default 1
      )
    `);
    this.addSql('create index "organization_created_at_id_index" on "organization" ("created_at", "id")');
    this.addSql(`
      create table "organization_member" (
        "id" text not null primary key,
        "organization_id" text not null,
        "user_id" text not null,
        "role" text not null,
        "budget_id" text null,
        "created_at" datetime not null,
        "created_by" text not null,
        "updated_at" datetime not null,
        "updated_by" text not null,
        "revision" integer not null default 1
      )
    `);
    this.addSql('create index "organization_member_user_id_index" on "organization_member" ("user_id")');
    this.addSql(
      'create unique index "organization_member_organization_id_user_id_unique" on "organization_member" ("organization_id", "user_id")',
    );
    this.addSql(`
      create table "project" (
        "id" text not null primary key,
        "alias" text null,
        "description" text null,
        "team_id" text not null,
        "budget_id" text null,
        "models" json not null,
        "tags" json not null,
        "metadata" json not null,
        "blocked" integer not null,
        "created_at" datetime not null,
        "created_by" text not null,
        "updated_at" datetime not null,
        "updated_by" text not null,
        "revision" integer not null default 1
      )
    `);
    this.addSql('create index "project_team_id_index" on "project" ("team_id")');
    this.addSql('create index "project_created_at_id_index" on "project" ("created_at", "id")');
    this.addSql(`
      create table "tag" (
        "id" text not null primary key,
        "description" text null,
        "models" json not null,
        "budget_id" text null,
        "created_at" datetime not null,
        "created_by" text not null,
        "updated_at" datetime not null,
        "updated_by" text not null,
        "revision" integer not null default 1
      )
    `);
    this.addSql('create index "tag_created_at_id_index" on "tag" ("created_at", "id")');
    this.addSql(`
      create table "team" (
        "id" text not null primary key,
        "alias" text null,
        "organization_id" text null,
        "models" json not null,
        "model_aliases" json not null,
        "metadata" json not null,
        "blocked" integer not null,
        "member_permissions" json not null,
        "member_budget_id" text null,
        "router_settings" json not null,
        "max_budget" text null,
        "soft_budget" text null,
        "budget_duration" text null,
        "budget_reset_at" datetime null,
        "rpm_limit" double null,
        "tpm_limit" double null,
        "tpd_limit" double null,
        "max_parallel_requests" double null,
        "created_at" datetime not null,
        "created_by" text not null,
        "updated_at" datetime not null,
        "updated_by" text not null,
        "revision" integer not null default 1
      )
    `);
    this.addSql('create index "team_organization_id_index" on "team" ("organization_id")');
    this.addSql('create index "team_created_at_id_index" on "team" ("created_at", "id")');
    this.addSql(`
      create table "team_member" (
        "id" text not null primary key,
        "team_id" text not null,
        "user_id" text not null,
        "role" text not null,
        "budget_id" text null,
        "created_at" datetime not null,
        "created_by" text not null,
        "updated_at" datetime not null,
        "updated_by" text not null,
        "revision" integer not null default 1
      )
    `);
    this.addSql('create index "team_member_user_id_index" on "team_member" ("user_id")');
    this.addSql('create unique index "team_member_team_id_user_id_unique" on "team_member" ("team_id", "user_id")');
    this.addSql(`
      create table "user_account" (
        "id" text not null primary key,
        "alias" text null,
        "email" text null,
        "email_key" text null,
        "role" text null,
        "models" json not null,
        "metadata" json not null,
        "model_max_budget" json not null,
        "allowed_cache_controls" json not null,
        "sso_user_id" text null,
        "max_budget" text null,
        "soft_budget" text null,
        "budget_duration" text null,
        "budget_reset_at" datetime null,
        "rpm_limit" double null,
        "tpm_limit" double null,
        "tpd_limit" double null,
        "max_parallel_requests" double null,
        "created_at" datetime not null,
        "created_by" text not null,
        "updated_at" datetime not null,
        "updated_by" text not null,
        "revision" integer not null default 1
      )
    `);
    this.addSql('create unique index "user_account_email_key_unique" on "user_account" ("email_key")');
    this.addSql('create index "user_account_created_at_id_index" on "user_account" ("created_at", "id")');
    this.addSql('create index "virtual_key_team_id_index" on "virtual_key" ("team_id")');
    this.addSql('create index "virtual_key_user_id_index" on "virtual_key" ("user_id")');
  }

  override down(): void {
    this.addSql('drop index "virtual_key_user_id_index"');
    this.addSql('drop index "virtual_key_team_id_index"');
    this.addSql('drop table "user_account"');
    this.addSql('drop table "team_member"');
    this.addSql('drop table "team"');
    this.addSql('drop table "tag"');
    this.addSql('drop table "project"');
    this.addSql('drop table "organization_member"');
    this.addSql('drop table "organization"');
    this.addSql('drop table "invitation"');
    this.addSql('drop table "customer"');
    this.addSql('drop table "budget"');
  }
}
