CREATE TABLE `schema_migration` (`id` integer not null primary key autoincrement, `name` text not null, `executed_at` datetime not null default (strftime('%s', 'now') * 1000));
CREATE TABLE "key_spend" (
        "key_hash" text not null primary key,
        "total" bigint not null
      );
CREATE TABLE "spend_row" (
        "trace_id" text not null,
        "span_id" text not null,
        "id" text not null,
        "call_id" text not null,
        "response_id" text null,
        "call_type" text not null,
        "key_hash" text not null,
        "team_id" text null,
        "user_id" text null,
        "model_group" text not null,
        "model" text not null,
        "deployment_id" text not null,
        "provider" text not null,
        "input_tokens" bigint null,
        "output_tokens" bigint null,
        "cache_read_tokens" bigint null,
        "cache_write_tokens" bigint null,
        "reasoning_tokens" bigint null,
        "cost" bigint null,
        "status" text not null,
        "started_at" bigint not null,
        "ended_at" bigint not null,
        "first_byte_at" bigint null,
        "error_code" text null,
        "error_message" text null, "end_user" text null, "session_id" text null, "tags" text null, "guardrails" text null, "cache_hit_key" text null, "routing" text null,
        primary key ("trace_id", "span_id", "id")
      ) without rowid
    ;
CREATE TABLE "catalog_release" (
        "entry_id" text not null,
        "field" text not null,
        "value" text not null,
        "released_at" bigint not null,
        "released_by" text not null,
        primary key ("entry_id", "field")
      );
CREATE TABLE "catalog_change" (
        "key" text not null primary key,
        "at_ms" bigint not null,
        "not_before_ms" bigint null,
        "number" integer not null,
        "entry_id" text not null,
        "provider" text null,
        "op" text not null,
        "field" text null,
        "kind" text null,
        "old_value" text not null,
        "new_value" text not null,
        "snapshot_id" text null
      );
CREATE INDEX "catalog_change_at_ms_number_key_index" on "catalog_change" ("at_ms", "number", "key");
CREATE INDEX "catalog_change_entry_id_at_ms_number_key_index" on "catalog_change" ("entry_id", "at_ms", "number", "key");
CREATE INDEX "catalog_change_field_at_ms_number_key_index" on "catalog_change" ("field", "at_ms", "number", "key");
CREATE TABLE "catalog_recorded" (
        "entry_id" text not null primary key,
        "fields" text not null
      );
CREATE TABLE "catalog_span" (
        "name" text not null primary key,
        "from_ms" bigint not null,
        "to_ms" bigint null,
        "snapshot_id" text null,
        "taken_ms" bigint null,
        "seen_ms" bigint null,
        "confirmed_ms" bigint null
      );
CREATE TABLE "free_tier_use" (
        "day" text not null,
        "ip_hash" text not null,
        "used" integer not null,
        "granted" integer not null,
        primary key ("day", "ip_hash")
      );
CREATE TABLE "checkout" (
        "id" text not null primary key,
        "mode" text not null,
        "secret_hash" text not null,
        "session_id" text null,
        "state" text not null,
        "created_at" bigint not null,
        "paid_at" bigint null,
        "key_hash" text null,
        "key_name" text null,
        "key_issued_at" bigint null,
        "revoked_at" bigint null
      );
CREATE UNIQUE INDEX "checkout_session_id_unique" on "checkout" ("session_id");
CREATE UNIQUE INDEX "checkout_key_hash_unique" on "checkout" ("key_hash");
CREATE INDEX "checkout_created_at_id_index" on "checkout" ("created_at", "id");
CREATE TABLE "payment_event" (
        "id" text not null primary key,
        "fact" text not null,
        "at" bigint not null,
        "subject" text not null,
        "checkout_id" text null
      );
CREATE INDEX "payment_event_checkout_id_index" on "payment_event" ("checkout_id");
CREATE INDEX "payment_event_at_index" on "payment_event" ("at");
CREATE TABLE "payment_object" (
        "object" text not null,
        "event_id" text not null,
        primary key ("object", "event_id")
      );
CREATE INDEX "payment_object_event_id_index" on "payment_object" ("event_id");
CREATE TABLE "export_body" (
        "body_no" integer not null primary key autoincrement,
        "format" text not null,
        "compression" text not null,
        "held_by" integer not null,
        "bytes" blob not null
      , "heads" blob null);
CREATE TABLE "trace_summary" (
        "trace_no" integer not null primary key autoincrement,
        "trace_id" text not null,
        "trace_ref" text not null,
        "team_id" text not null,
        "key_hash" text not null,
        "name" text not null,
        "service" text not null,
        "input_preview" text not null,
        "start_ns" bigint not null,
        "end_ns" bigint not null,
        "start_ms" bigint not null,
        "status" text not null,
        "span_count" integer not null,
        "agent_names" text not null,
        "agent_invocations" integer not null,
        "llm_calls" integer not null,
        "tool_calls" integer not null,
        "error_count" integer not null,
        "input_tokens" bigint not null,
        "output_tokens" bigint not null,
        "models" text not null,
        "spend" bigint null,
        "priced_calls" integer not null
      , "frameworks" text null, "estimate" bigint null, "estimated_calls" integer not null default 0, "source" text null, "redacted_ms" bigint null, "gateway_calls" integer not null default 0, "preview_ns" bigint null, "root_ns" bigint null, "session_id" text null, "user_id" text null, "tags" text null, "root_labels" integer not null default 0);
CREATE UNIQUE INDEX "trace_summary_trace_id_trace_ref_unique" on "trace_summary" ("trace_id", "trace_ref");
CREATE INDEX "trace_summary_start_ms_trace_ref_index" on "trace_summary" ("start_ms", "trace_ref");
CREATE INDEX "trace_summary_team_id_start_ms_trace_ref_index" on "trace_summary" ("team_id", "start_ms", "trace_ref") where "team_id" <> '';
CREATE INDEX "trace_summary_key_hash_start_ms_trace_ref_index" on "trace_summary" ("key_hash", "start_ms", "trace_ref") where "team_id" = '';
CREATE TABLE "upstream_object" (
        "id" text not null primary key,
        "kind" text not null,
        "deployment_id" text not null,
        "upstream_id" text not null,
        "team_id" text not null,
        "key_hash" text not null,
        "created_at" bigint not null,
        "purpose" text null,
        "shown" text null,
        "removed_at" bigint null
      , "labels" text null, "calls" text null, "user_id" text null, "open_cost" text null);
CREATE INDEX "upstream_object_kind_created_at_id_index" on "upstream_object" ("kind", "created_at", "id");
CREATE INDEX "upstream_object_kind_team_id_key_hash_created_at_id_index"
      on "upstream_object" ("kind", "team_id", "key_hash", "created_at", "id")
    ;
CREATE UNIQUE INDEX "upstream_object_deployment_id_upstream_id_unique" on "upstream_object" ("deployment_id", "upstream_id")
    ;
CREATE TABLE "response" (
        "id" text not null primary key,
        "previous_id" text null,
        "team_id" text not null,
        "key_hash" text not null,
        "created_at" bigint not null,
        "bytes" integer not null,
        "sealed" blob not null
      );
CREATE INDEX "response_created_at_id_index" on "response" ("created_at", "id");
CREATE TABLE "span" (
        "trace_no" bigint not null,
        "span_id" text not null,
        "parent_span_id" text null,
        "name" text not null,
        "kind" text not null,
        "type" text not null,
        "agent" text not null,
        "service" text not null,
        "start_ns" bigint not null,
        "end_ns" bigint not null,
        "status" text not null,
        "error" text null,
        "model" text null,
        "input_tokens" bigint not null,
        "output_tokens" bigint not null,
        "input_preview" text not null,
        "request_id" text null,
        "cost" bigint null,
        "provider" text null,
        "framework" text null,
        "call_id" text null,
        "gateway" integer null,
        "source" text null,
        "estimate" bigint null,
        "body_no" bigint null,
        "body_at" integer null,
        "payload" text null,
        primary key ("trace_no", "span_id")
      ) without rowid
    ;
CREATE TABLE "call_segment" (
        "body_no" bigint not null primary key,
        "calls" integer not null,
        "set_aside" integer not null,
        "totals" text not null,
        "rows" text not null
      );
CREATE TABLE "sheet_trace" (
        "trace_no" bigint not null,
        "body_no" bigint not null,
        "at" integer not null,
        "length" integer not null,
        "spans" integer not null,
        primary key ("trace_no")
      ) without rowid
    ;
CREATE TABLE "call_note" (
        "trace_no" bigint not null,
        "kind" integer not null,
        "name" text not null,
        "span_id" text not null,
        primary key ("trace_no", "kind", "name", "span_id")
      ) without rowid
    ;
CREATE TABLE "retired_secret" (
        "hash" text not null primary key,
        "key_hash" text not null,
        "retired_at" datetime not null
      );
CREATE TABLE "virtual_key" (
  "hash" text not null primary key,
  "name" text not null,
  "alias" text null,
  "role" text not null,
  "team_id" text null,
  "user_id" text null,
  "models" json not null,
  "max_budget" text null,
  "metadata" json not null,
  "blocked" integer not null,
  "expires_at" datetime null,
  "created_at" datetime not null,
  "created_by" text not null
,
        "secret_hash" text not null,
        "previous_secret_hash" text null,
        "previous_secret_until" datetime null,
        "rotations" integer not null,
        "rotated_at" datetime null,
        "updated_at" datetime not null,
        "updated_by" text not null,
        "deleted_at" datetime null,
        "deleted_by" text null,
        "revision" integer not null default 1
      , "budget_duration" text null, "budget_reset_at" datetime null, "spent_before" text null, "next_reset_at" datetime null, "settings" json null, "project_id" text null, "organization_id" text null);
CREATE UNIQUE INDEX "virtual_key_secret_hash_unique" on "virtual_key" ("secret_hash");
CREATE UNIQUE INDEX "virtual_key_previous_secret_hash_unique" on "virtual_key" ("previous_secret_hash");
CREATE UNIQUE INDEX "virtual_key_alias_unique" on "virtual_key" ("alias") where "deleted_at" is null;
CREATE VIEW "spans" as
      select 
  t.trace_id, s.span_id, s.parent_span_id, s.name, s.kind, s.type, nullif(s.agent, '') as agent,
  nullif(s.service, '') as service, strftime('%Y-%m-%dT%H:%M:%S', s.start_ns / 1000000000, 'unixepoch') || printf('.%09dZ', s.start_ns % 1000000000) as start_time, strftime('%Y-%m-%dT%H:%M:%S', s.end_ns / 1000000000, 'unixepoch') || printf('.%09dZ', s.end_ns % 1000000000) as end_time,
  (s.end_ns - s.start_ns) / 1000000.0 as duration_ms, s.status, s.error, s.model, s.provider, s.framework,
  s.input_tokens, s.output_tokens, case when s.cost is not null then iif(s.cost < 0, '-', '') || printf('%d.%012d', abs(s.cost) / 1000000000000, abs(s.cost) % 1000000000000) end as cost_usd, case when s.estimate is not null then iif(s.estimate < 0, '-', '') || printf('%d.%012d', abs(s.estimate) / 1000000000000, abs(s.estimate) % 1000000000000) end as estimated_cost_usd,
  iif(s.gateway = 1 or s.cost is not null, 1, 0) as gateway, s.request_id, s.call_id, nullif(t.team_id, '') as team_id,
  t.key_hash, s.input_preview, s.start_ns, s.end_ns
  from trace_summary t join (select trace_no, s."span_id", s."parent_span_id", s."name", s."kind", s."type", s."agent", s."service", s."start_ns", s."end_ns", s."status", s."error", s."model", s."input_tokens", s."output_tokens", s."input_preview", s."request_id", s."cost", s."provider", s."framework", s."call_id", s."gateway", s."estimate" from span s) s on s.trace_no = t.trace_no
      union all
      select 
  t.trace_id, s.span_id, s.parent_span_id, s.name, s.kind, s.type, nullif(s.agent, '') as agent,
  nullif(s.service, '') as service, strftime('%Y-%m-%dT%H:%M:%S', s.start_ns / 1000000000, 'unixepoch') || printf('.%09dZ', s.start_ns % 1000000000) as start_time, strftime('%Y-%m-%dT%H:%M:%S', s.end_ns / 1000000000, 'unixepoch') || printf('.%09dZ', s.end_ns % 1000000000) as end_time,
  (s.end_ns - s.start_ns) / 1000000.0 as duration_ms, s.status, s.error, s.model, s.provider, s.framework,
  s.input_tokens, s.output_tokens, case when s.cost is not null then iif(s.cost < 0, '-', '') || printf('%d.%012d', abs(s.cost) / 1000000000000, abs(s.cost) % 1000000000000) end as cost_usd, case when s.estimate is not null then iif(s.estimate < 0, '-', '') || printf('%d.%012d', abs(s.estimate) / 1000000000000, abs(s.estimate) % 1000000000000) end as estimated_cost_usd,
  iif(s.gateway = 1 or s.cost is not null, 1, 0) as gateway, s.request_id, s.call_id, nullif(t.team_id, '') as team_id,
  t.key_hash, s.input_preview, s.start_ns, s.end_ns
  from trace_summary t join (
        select p.trace_no, json_extract(h.value, '$[0]') as "span_id", json_extract(h.value, '$[1]') as "parent_span_id", json_extract(h.value, '$[2]') as "name", json_extract(h.value, '$[3]') as "kind", json_extract(h.value, '$[4]') as "type", json_extract(h.value, '$[5]') as "agent", json_extract(h.value, '$[6]') as "service", cast(json_extract(h.value, '$[7]') as integer) as "start_ns", cast(json_extract(h.value, '$[8]') as integer) as "end_ns", json_extract(h.value, '$[9]') as "status", json_extract(h.value, '$[10]') as "error", json_extract(h.value, '$[11]') as "model", cast(json_extract(h.value, '$[12]') as integer) as "input_tokens", cast(json_extract(h.value, '$[13]') as integer) as "output_tokens", json_extract(h.value, '$[14]') as "input_preview", json_extract(h.value, '$[15]') as "request_id", cast(json_extract(h.value, '$[16]') as integer) as "cost", json_extract(h.value, '$[19]') as "provider", json_extract(h.value, '$[20]') as "framework", json_extract(h.value, '$[21]') as "call_id", cast(json_extract(h.value, '$[22]') as integer) as "gateway", cast(json_extract(h.value, '$[24]') as integer) as "estimate"
        from sheet_trace p join export_body b on b.body_no = p.body_no,
          json_each(cast(substr(b.heads, p.at + 1, p.length) as text)) h
        where p.spans > 0
      ) s on s.trace_no = t.trace_no;
CREATE VIEW "traces" as
      select trace_id, name, nullif(service, '') as service, strftime('%Y-%m-%dT%H:%M:%S', start_ns / 1000000000, 'unixepoch') || printf('.%09dZ', start_ns % 1000000000) as start_time,
        strftime('%Y-%m-%dT%H:%M:%S', end_ns / 1000000000, 'unixepoch') || printf('.%09dZ', end_ns % 1000000000) as end_time, (end_ns - start_ns) / 1000000.0 as duration_ms, status, span_count,
        error_count, llm_calls, gateway_calls, tool_calls, agent_invocations, agent_names, models, frameworks,
        input_tokens, output_tokens, case when spend is not null then iif(spend < 0, '-', '') || printf('%d.%012d', abs(spend) / 1000000000000, abs(spend) % 1000000000000) end as cost_usd, case when estimate is not null then iif(estimate < 0, '-', '') || printf('%d.%012d', abs(estimate) / 1000000000000, abs(estimate) % 1000000000000) end as estimated_cost_usd,
        priced_calls, estimated_calls, nullif(team_id, '') as team_id, key_hash, input_preview,
        strftime('%Y-%m-%dT%H:%M:%S', redacted_ms / 1000, 'unixepoch') || printf('.%03dZ', redacted_ms % 1000) as redacted_time, start_ns, end_ns
      from trace_summary where span_count > 0;
CREATE VIEW "spend" as
      select id, call_id, response_id, call_type, trace_id, span_id, key_hash, team_id, user_id, model_group, model,
        provider, deployment_id, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens,
        case when cost is not null then iif(cost < 0, '-', '') || printf('%d.%012d', abs(cost) / 1000000000000, abs(cost) % 1000000000000) end as cost_usd, status, strftime('%Y-%m-%dT%H:%M:%S', started_at / 1000, 'unixepoch') || printf('.%03dZ', started_at % 1000) as start_time,
        strftime('%Y-%m-%dT%H:%M:%S', ended_at / 1000, 'unixepoch') || printf('.%03dZ', ended_at % 1000) as end_time, strftime('%Y-%m-%dT%H:%M:%S', first_byte_at / 1000, 'unixepoch') || printf('.%03dZ', first_byte_at % 1000) as first_byte_time, error_code, error_message
      from spend_row;
CREATE INDEX "virtual_key_next_reset_at_index" on "virtual_key" ("next_reset_at");
CREATE TABLE "budget" (
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
      , "counts_from" datetime null, "temp_budget_increase" text null, "temp_budget_expiry" datetime null);
CREATE INDEX "budget_created_at_id_index" on "budget" ("created_at", "id");
CREATE TABLE "customer" (
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
      , "object_permission" json null);
CREATE INDEX "customer_created_at_id_index" on "customer" ("created_at", "id");
CREATE TABLE "invitation" (
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
      );
CREATE INDEX "invitation_user_id_index" on "invitation" ("user_id");
CREATE TABLE "organization" (
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
      , "object_permission" json null);
CREATE INDEX "organization_created_at_id_index" on "organization" ("created_at", "id");
CREATE TABLE "organization_member" (
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
      );
CREATE INDEX "organization_member_user_id_index" on "organization_member" ("user_id");
CREATE UNIQUE INDEX "organization_member_organization_id_user_id_unique" on "organization_member" ("organization_id", "user_id");
CREATE TABLE "project" (
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
      );
CREATE INDEX "project_team_id_index" on "project" ("team_id");
CREATE INDEX "project_created_at_id_index" on "project" ("created_at", "id");
CREATE TABLE "tag" (
        "id" text not null primary key,
        "description" text null,
        "models" json not null,
        "budget_id" text null,
        "created_at" datetime not null,
        "created_by" text not null,
        "updated_at" datetime not null,
        "updated_by" text not null,
        "revision" integer not null default 1
      );
CREATE INDEX "tag_created_at_id_index" on "tag" ("created_at", "id");
CREATE TABLE "team" (
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
      , "spent_before" text null, "budget_limits" json null, "object_permission" json null);
CREATE INDEX "team_organization_id_index" on "team" ("organization_id");
CREATE INDEX "team_created_at_id_index" on "team" ("created_at", "id");
CREATE TABLE "team_member" (
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
      , "spent_before" text null);
CREATE INDEX "team_member_user_id_index" on "team_member" ("user_id");
CREATE UNIQUE INDEX "team_member_team_id_user_id_unique" on "team_member" ("team_id", "user_id");
CREATE TABLE "user_account" (
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
      , "spent_before" text null, "object_permission" json null);
CREATE UNIQUE INDEX "user_account_email_key_unique" on "user_account" ("email_key");
CREATE INDEX "user_account_created_at_id_index" on "user_account" ("created_at", "id");
CREATE INDEX "spend_row_started_at_index" on "spend_row" ("started_at");
CREATE INDEX "team_budget_reset_at_index" on "team" ("budget_reset_at");
CREATE INDEX "user_account_budget_reset_at_index" on "user_account" ("budget_reset_at");
CREATE TABLE "deployment" (
        "id" text not null primary key,
        "model_group" text not null,
        "info" json not null,
        "blocked" integer not null,
        "sealed" text not null,
        "created_at" datetime not null,
        "created_by" text not null,
        "updated_at" datetime not null,
        "updated_by" text not null,
        "revision" integer not null default 1
      );
CREATE INDEX "deployment_created_at_id_index" on "deployment" ("created_at", "id");
CREATE TABLE "credential" (
        "id" text not null primary key,
        "display_name" text null,
        "info" json not null,
        "sealed" text not null,
        "created_at" datetime not null,
        "created_by" text not null,
        "updated_at" datetime not null,
        "updated_by" text not null,
        "revision" integer not null default 1
      );
CREATE INDEX "credential_created_at_id_index" on "credential" ("created_at", "id");
CREATE TABLE "model_fallback" (
        "id" text not null primary key,
        "model" text not null,
        "type" text not null,
        "targets" json not null,
        "created_at" datetime not null,
        "created_by" text not null,
        "updated_at" datetime not null,
        "updated_by" text not null,
        "revision" integer not null default 1
      );
CREATE INDEX "model_fallback_created_at_id_index" on "model_fallback" ("created_at", "id");
CREATE TABLE "gateway_activity" (
        "day" text not null,
        "category" text not null,
        "route" text not null,
        "succeeded" bigint not null,
        "failed" bigint not null,
        primary key ("day", "category", "route")
      );
CREATE TABLE "activity_process" (
        "id" text not null primary key,
        "last_batch" integer not null,
        "written_at" bigint not null
      );
CREATE TABLE "annotation" (
        "id" text not null primary key,
        "trace_id" text not null,
        "trace_ref" text not null,
        "span_id" text not null,
        "team_id" text not null,
        "key_hash" text not null,
        "trace_start_ms" bigint not null,
        "name" text not null,
        "annotator" text not null,
        "label" text null,
        "score" double null,
        "note" text null,
        "created_at" datetime not null,
        "created_by" text not null,
        "updated_at" datetime not null,
        "updated_by" text not null,
        "revision" integer not null default 1
      );
CREATE INDEX "annotation_created_at_id_index" on "annotation" ("created_at", "id");
CREATE INDEX "annotation_trace_start_ms_index" on "annotation" ("trace_start_ms");
CREATE UNIQUE INDEX "annotation_trace_id_trace_ref_span_id_name_created_by_unique" on "annotation" ("trace_id", "trace_ref", "span_id", "name", "created_by");
CREATE TABLE "job" (
        "id" text not null primary key,
        "kind" text not null,
        "subject" text not null,
        "status" text not null,
        "created_at" double not null,
        "due_at" double not null,
        "attempts" integer not null,
        "most_attempts" integer not null,
        "worker_id" text null,
        "finished_at" double null,
        "error" text not null
      );
CREATE INDEX "job_kind_status_due_at_index" on "job" ("kind", "status", "due_at");
CREATE INDEX "job_finished_at_index" on "job" ("finished_at");
CREATE TABLE "access_group" (
        "id" text not null primary key,
        "name" text not null,
        "description" text null,
        "models" json not null,
        "mcp_server_ids" json not null,
        "agent_ids" json not null,
        "team_ids" json not null,
        "key_ids" json not null,
        "created_at" datetime not null,
        "created_by" text not null,
        "updated_at" datetime not null,
        "updated_by" text not null,
        "revision" integer not null default 1
      );
CREATE UNIQUE INDEX "access_group_name_unique" on "access_group" ("name");
CREATE INDEX "access_group_created_at_id_index" on "access_group" ("created_at", "id");
CREATE INDEX "virtual_key_project_id_index" on "virtual_key" ("project_id");
CREATE INDEX "virtual_key_organization_id_index" on "virtual_key" ("organization_id");
CREATE TABLE "lens" (
        "id" text not null primary key,
        "data" json not null,
        "reservations" json not null,
        "spent" text not null,
        "due_at" double null,
        "run_id" text not null
      );
CREATE INDEX "lens_due_at_index" on "lens" ("due_at");
CREATE TABLE "lens_run" (
        "id" text not null primary key,
        "lens_id" text not null,
        "status" text not null,
        "created_at" double not null,
        "cost" text not null,
        "data" json not null,
        "sample" json null
      );
CREATE INDEX "lens_run_lens_id_created_at_id_index" on "lens_run" ("lens_id", "created_at", "id");
CREATE TABLE "lens_finding" (
        "id" text not null primary key,
        "lens_id" text not null,
        "place" integer not null,
        "status" text not null,
        "kind" text not null,
        "priority" text not null,
        "last_seen" double not null,
        "data" json not null
      );
CREATE INDEX "lens_finding_lens_id_place_index" on "lens_finding" ("lens_id", "place");
CREATE INDEX "lens_finding_last_seen_id_index" on "lens_finding" ("last_seen", "id");
CREATE TABLE "lens_review" (
        "id" text not null primary key,
        "lens_id" text not null,
        "criteria_key" text not null,
        "execution_id" text not null,
        "content_version" text not null,
        "at" double not null,
        "data" json not null
      );
CREATE INDEX "lens_review_lens_id_criteria_key_execution_id_index" on "lens_review" ("lens_id", "criteria_key", "execution_id");
CREATE INDEX "lens_review_at_index" on "lens_review" ("at");
CREATE TABLE "lens_answer" (
        "id" text not null primary key,
        "run_id" text not null,
        "data" json not null,
        "at" double not null
      );
CREATE INDEX "lens_answer_run_id_index" on "lens_answer" ("run_id");
CREATE INDEX "lens_answer_at_index" on "lens_answer" ("at");
CREATE TABLE "lens_worker" (
        "id" text not null primary key,
        "name" text not null,
        "token_hash" text null,
        "analysis_key_id" text null,
        "last_seen" datetime not null,
        "revoked" integer not null,
        "created_at" datetime not null,
        "created_by" text not null,
        "updated_at" datetime not null,
        "updated_by" text not null,
        "revision" integer not null default 1
      );
CREATE UNIQUE INDEX "lens_worker_token_hash_unique" on "lens_worker" ("token_hash");
CREATE INDEX "lens_worker_created_at_id_index" on "lens_worker" ("created_at", "id");
CREATE TABLE "pass_through_endpoint" (
        "id" text not null primary key,
        "path" text not null,
        "target" text not null,
        "sealed_headers" text not null,
        "settings" json not null,
        "created_at" datetime not null,
        "created_by" text not null,
        "updated_at" datetime not null,
        "updated_by" text not null,
        "revision" integer not null default 1
      );
CREATE INDEX "pass_through_endpoint_created_at_id_index" on "pass_through_endpoint" ("created_at", "id");
CREATE TABLE "settings_section" (
        "id" text not null primary key,
        "content" json not null,
        "created_at" datetime not null,
        "created_by" text not null,
        "updated_at" datetime not null,
        "updated_by" text not null,
        "revision" integer not null default 1
      );
CREATE TABLE "coding_agent" (
        "id" text not null primary key,
        "key_hash" text not null,
        "team_id" text null,
        "state" json not null,
        "created_at" datetime not null,
        "created_by" text not null,
        "updated_at" datetime not null,
        "updated_by" text not null,
        "revision" integer not null default 1
      );
CREATE INDEX "coding_agent_created_at_id_index" on "coding_agent" ("created_at", "id");
CREATE TABLE "audit_entry" (
        "id" text not null primary key,
        "created_at" datetime not null,
        "changed_by" text not null,
        "changed_by_key" text null,
        "action" text not null,
        "noun" text not null,
        "object_id" text not null,
        "team_id" text null,
        "key_hash" text null,
        "before" json null,
        "after" json null
      , "actor" text null);
CREATE INDEX "audit_entry_created_at_id_index" on "audit_entry" ("created_at", "id");
CREATE INDEX "audit_entry_object_id_created_at_index" on "audit_entry" ("object_id", "created_at");
CREATE TABLE "spend_day" (
        "started_at" bigint not null,
        "key_hash" text not null,
        "team_id" text not null,
        "user_id" text not null,
        "provider" text not null,
        "model" text not null,
        "model_group" text not null,
        "call_type" text not null,
        "tagged" integer not null,
        "calls" bigint not null,
        "failures" bigint not null,
        "input_tokens" bigint not null,
        "output_tokens" bigint not null,
        "cache_read_tokens" bigint not null,
        "cache_write_tokens" bigint not null,
        "cost" bigint not null,
        "success_ms" bigint not null,
        "last_ms" bigint not null,
        primary key ("started_at", "key_hash", "team_id", "user_id", "provider", "model", "model_group", "call_type", "tagged")
      );
CREATE TABLE "spend_day_label" (
        "kind" text not null,
        "label" text not null,
        "started_at" bigint not null,
        "key_hash" text not null,
        "team_id" text not null,
        "user_id" text not null,
        "provider" text not null,
        "model" text not null,
        "model_group" text not null,
        "call_type" text not null,
        "calls" bigint not null,
        "failures" bigint not null,
        "input_tokens" bigint not null,
        "output_tokens" bigint not null,
        "cache_read_tokens" bigint not null,
        "cache_write_tokens" bigint not null,
        "cost" bigint not null,
        "success_ms" bigint not null,
        "last_ms" bigint not null,
        primary key ("kind", "label", "started_at", "key_hash", "team_id", "user_id", "provider", "model", "model_group", "call_type")
      );
CREATE TABLE "lens_dataset" (
        "id" text not null primary key,
        "name" text not null,
        "agent_name" text not null,
        "team_id" text not null,
        "latest" integer not null,
        "case_count" integer not null,
        "created_at" datetime not null,
        "created_by" text not null,
        "updated_at" datetime not null,
        "updated_by" text not null,
        "revision" integer not null default 1
      );
CREATE INDEX "lens_dataset_created_at_id_index" on "lens_dataset" ("created_at", "id");
CREATE TABLE "lens_dataset_revision" (
        "id" text not null primary key,
        "dataset_id" text not null,
        "number" integer not null,
        "cases" json not null,
        "created_at" datetime not null,
        "created_by" text not null,
        "updated_at" datetime not null,
        "updated_by" text not null,
        "revision" integer not null default 1
      );
CREATE UNIQUE INDEX "lens_dataset_revision_dataset_id_number_unique" on "lens_dataset_revision" ("dataset_id", "number");
CREATE TABLE "lens_signal_config" (
        "id" text not null primary key,
        "model" text not null,
        "threshold" double not null,
        "signals" json not null,
        "created_at" datetime not null,
        "created_by" text not null,
        "updated_at" datetime not null,
        "updated_by" text not null,
        "revision" integer not null default 1
      );
CREATE TABLE "lens_trace_signal" (
        "id" text not null primary key,
        "trace_id" text not null,
        "trace_ref" text not null,
        "config_key" text not null,
        "span_count" integer not null,
        "status" text not null,
        "model" text not null,
        "scores" json not null,
        "trace_start_ms" bigint not null,
        "asked_ms" bigint not null,
        "created_at" datetime not null,
        "created_by" text not null,
        "updated_at" datetime not null,
        "updated_by" text not null,
        "revision" integer not null default 1
      );
CREATE INDEX "lens_trace_signal_trace_start_ms_index" on "lens_trace_signal" ("trace_start_ms");
CREATE TABLE "lens_tracing_key" (
        "id" text not null primary key,
        "name" text not null,
        "token_hash" text not null,
        "team_id" text not null,
        "user_id" text not null,
        "organization_id" text not null,
        "expires_at" datetime null,
        "created_at" datetime not null,
        "created_by" text not null,
        "updated_at" datetime not null,
        "updated_by" text not null,
        "revision" integer not null default 1
      );
CREATE UNIQUE INDEX "lens_tracing_key_token_hash_unique" on "lens_tracing_key" ("token_hash");
CREATE INDEX "lens_tracing_key_created_at_id_index" on "lens_tracing_key" ("created_at", "id");
CREATE TABLE "decision" (
        "id" text not null primary key,
        "call_id" text not null,
        "model" text not null,
        "key_hash" text not null,
        "team_id" text null,
        "content" json not null,
        "created_at" datetime not null,
        "created_by" text not null,
        "updated_at" datetime not null,
        "updated_by" text not null,
        "revision" integer not null default 1
      );
CREATE INDEX "decision_created_at_id_index" on "decision" ("created_at", "id");
CREATE INDEX "decision_call_id_index" on "decision" ("call_id");
CREATE TABLE "decision_outcome" (
        "id" text not null primary key,
        "decision_id" text not null,
        "model" text not null,
        "kind" text not null,
        "source" text not null,
        "probabilities" json not null,
        "outcome" integer not null,
        "key_hash" text not null,
        "team_id" text null,
        "created_at" datetime not null,
        "created_by" text not null,
        "updated_at" datetime not null,
        "updated_by" text not null,
        "revision" integer not null default 1
      , "scope" text not null default '');
CREATE INDEX "decision_outcome_created_at_id_index" on "decision_outcome" ("created_at", "id");
CREATE INDEX "decision_outcome_updated_at_id_index" on "decision_outcome" ("updated_at", "id");
CREATE INDEX "trace_summary_session_id_start_ms_index" on "trace_summary" ("session_id", "start_ms") where "session_id" is not null;
CREATE INDEX "decision_outcome_scope_updated_at_id_index" on "decision_outcome" ("scope", "updated_at", "id");
CREATE TABLE "admission_counter" ("name" text not null primary key, "state" text not null, "used_ms" bigint not null);
CREATE TABLE "admission_process" ("name" text not null primary key, "until_ms" bigint not null);
CREATE TABLE "budget_window" ("name" text not null primary key, "total" bigint not null, "end_ms" bigint not null);
CREATE INDEX "budget_window_end_ms_index" on "budget_window" ("end_ms");
CREATE TABLE "pending_sign_in" ("id" text not null primary key, "kind" text not null, "content" text not null, "revision" integer not null, "until_ms" bigint not null);
CREATE INDEX "pending_sign_in_until_ms_index" on "pending_sign_in" ("until_ms");
CREATE TABLE "guardrail" (
        "id" text not null primary key,
        "name" text not null,
        "kind" text not null,
        "modes" json not null,
        "default_on" integer not null,
        "sealed" text not null,
        "info" json null,
        "team_id" text null,
        "created_at" datetime not null,
        "created_by" text not null,
        "updated_at" datetime not null,
        "updated_by" text not null,
        "revision" integer not null default 1
      );
CREATE UNIQUE INDEX "guardrail_name_unique" on "guardrail" ("name");
CREATE INDEX "guardrail_created_at_id_index" on "guardrail" ("created_at", "id");
CREATE TABLE "guardrail_day" (
        "day" text not null,
        "guardrail_id" text not null,
        "name" text not null,
        "kind" text not null,
        "passed" bigint not null,
        "flagged" bigint not null,
        "intervened" bigint not null,
        "failed" bigint not null,
        "latency_ms" double not null,
        primary key ("day", "guardrail_id")
      );
CREATE TABLE "guardrail_run" (
        "id" text not null primary key,
        "guardrail_id" text not null,
        "name" text not null,
        "kind" text not null,
        "result" text not null,
        "mode" text not null,
        "at" bigint not null,
        "latency_ms" double not null,
        "model" text not null,
        "call_id" text not null,
        "trace_id" text not null,
        "key_hash" text not null,
        "team_id" text null
      );
CREATE INDEX "guardrail_run_at_id_index" on "guardrail_run" ("at", "id");
CREATE TABLE "health_check" (
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
      );
CREATE INDEX "health_check_created_at_id_index" on "health_check" ("created_at", "id");
CREATE INDEX "health_check_deployment_id_created_at_index" on "health_check" ("deployment_id", "created_at");
CREATE INDEX "budget_budget_reset_at_index" on "budget" ("budget_reset_at");
CREATE INDEX "annotation_name_label_trace_start_ms_index" on "annotation" ("name", "label", "trace_start_ms");
CREATE INDEX "annotation_name_score_trace_start_ms_index" on "annotation" ("name", "score", "trace_start_ms");
CREATE INDEX "annotation_team_id_name_trace_start_ms_index" on "annotation" ("team_id", "name", "trace_start_ms") where "team_id" <> '';
CREATE INDEX "annotation_key_hash_name_trace_start_ms_index" on "annotation" ("key_hash", "name", "trace_start_ms") where "team_id" = '';
CREATE INDEX "virtual_key_list_index" on "virtual_key" ("created_at", "hash", "deleted_at", "blocked", "expires_at", "alias") where "deleted_at" is null;
CREATE INDEX "virtual_key_deleted_list_index" on "virtual_key" ("created_at", "hash") where "deleted_at" is not null;
CREATE INDEX "virtual_key_update_list_index" on "virtual_key" ("updated_at", "hash") where "deleted_at" is null;
CREATE INDEX "virtual_key_hash_list_index" on "virtual_key" ((hash || ''), "hash") where "deleted_at" is null;
CREATE INDEX "virtual_key_alias_list_index" on "virtual_key" ((coalesce(alias, '')), "hash", "alias") where "deleted_at" is null;
CREATE INDEX "virtual_key_max_budget_list_index" on "virtual_key" ((coalesce(cast(max_budget as numeric), -1)), "hash", "max_budget") where "deleted_at" is null;
CREATE INDEX "virtual_key_team_id_deleted_at_hash_index" on "virtual_key" ("team_id", "deleted_at", "hash");
CREATE INDEX "virtual_key_user_id_deleted_at_hash_index" on "virtual_key" ("user_id", "deleted_at", "hash");
CREATE TABLE "token_mapping" (
        "id" text not null primary key,
        "claim_name" text not null,
        "claim_value" text not null,
        "key_hash" text not null,
        "description" text null,
        "active" integer not null,
        "created_at" datetime not null,
        "created_by" text not null,
        "updated_at" datetime not null,
        "updated_by" text not null,
        "revision" integer not null default 1
      );
CREATE UNIQUE INDEX "token_mapping_claim_name_claim_value_unique" on "token_mapping" ("claim_name", "claim_value");
CREATE INDEX "token_mapping_created_at_id_index" on "token_mapping" ("created_at", "id");
CREATE TABLE "token_key" (
        "hash" text not null primary key,
        "team_id" text null,
        "user_id" text null,
        "organization_id" text null
      );
CREATE INDEX "token_key_user_id_index" on "token_key" ("user_id");
CREATE INDEX "token_key_organization_id_index" on "token_key" ("organization_id");
CREATE INDEX "token_key_team_id_user_id_index" on "token_key" ("team_id", "user_id");
CREATE TABLE "mcp_server" (
        "id" text not null primary key,
        "name_key" text null,
        "alias_key" text null,
        "sealed" text not null,
        "created_at" datetime not null,
        "created_by" text not null,
        "updated_at" datetime not null,
        "updated_by" text not null,
        "revision" integer not null default 1
      );
CREATE UNIQUE INDEX "mcp_server_name_key_unique" on "mcp_server" ("name_key");
CREATE UNIQUE INDEX "mcp_server_alias_key_unique" on "mcp_server" ("alias_key");
CREATE INDEX "mcp_server_created_at_id_index" on "mcp_server" ("created_at", "id");
CREATE TABLE "mcp_toolset" (
        "id" text not null primary key,
        "name" text not null,
        "name_key" text not null,
        "description" text null,
        "tools" json not null,
        "created_at" datetime not null,
        "created_by" text not null,
        "updated_at" datetime not null,
        "updated_by" text not null,
        "revision" integer not null default 1
      );
CREATE UNIQUE INDEX "mcp_toolset_name_key_unique" on "mcp_toolset" ("name_key");
CREATE INDEX "mcp_toolset_created_at_id_index" on "mcp_toolset" ("created_at", "id");
CREATE TABLE "vector_store" (
        "id" text not null primary key,
        "provider" text not null,
        "name" text null,
        "description" text null,
        "metadata" json null,
        "credential_name" text null,
        "sealed" text not null,
        "team_id" text null,
        "user_id" text null,
        "created_at" datetime not null,
        "created_by" text not null,
        "updated_at" datetime not null,
        "updated_by" text not null,
        "revision" integer not null default 1
      );
CREATE INDEX "vector_store_created_at_id_index" on "vector_store" ("created_at", "id");
CREATE TABLE "a2a_agent" (
        "id" text not null primary key,
        "name" text not null,
        "settings" json not null,
        "sealed" text not null,
        "created_at" datetime not null,
        "created_by" text not null,
        "updated_at" datetime not null,
        "updated_by" text not null,
        "revision" integer not null default 1
      );
CREATE UNIQUE INDEX "a2a_agent_name_unique" on "a2a_agent" ("name");
CREATE INDEX "a2a_agent_created_at_id_index" on "a2a_agent" ("created_at", "id");
CREATE TABLE "search_tool" (
        "id" text not null primary key,
        "name" text not null,
        "info" json null,
        "sealed" text not null,
        "created_at" datetime not null,
        "created_by" text not null,
        "updated_at" datetime not null,
        "updated_by" text not null,
        "revision" integer not null default 1
      );
CREATE UNIQUE INDEX "search_tool_name_unique" on "search_tool" ("name");
CREATE INDEX "search_tool_created_at_id_index" on "search_tool" ("created_at", "id");
CREATE TABLE "memory" (
        "id" text not null primary key,
        "name" text not null,
        "value" text not null,
        "metadata" json null,
        "user_id" text null,
        "team_id" text null,
        "owner" text not null,
        "created_at" datetime not null,
        "created_by" text not null,
        "updated_at" datetime not null,
        "updated_by" text not null,
        "revision" integer not null default 1
      );
CREATE UNIQUE INDEX "memory_owner_name_unique" on "memory" ("owner", "name");
CREATE INDEX "memory_created_at_id_index" on "memory" ("created_at", "id");
CREATE INDEX "memory_name_index" on "memory" ("name");
CREATE TABLE "policy" (
        "id" text not null primary key,
        "name" text not null,
        "version" integer not null,
        "status" text not null,
        "parent_id" text null,
        "published_at" datetime null,
        "production_at" datetime null,
        "description" text null,
        "inherit" text null,
        "guardrails_add" json not null,
        "guardrails_remove" json not null,
        "condition" json null,
        "pipeline" json null,
        "created_at" datetime not null,
        "created_by" text not null,
        "updated_at" datetime not null,
        "updated_by" text not null,
        "revision" integer not null default 1
      );
CREATE INDEX "policy_created_at_id_index" on "policy" ("created_at", "id");
CREATE UNIQUE INDEX "policy_name_version_unique" on "policy" ("name", "version");
CREATE TABLE "policy_attachment" (
        "id" text not null primary key,
        "policy_name" text not null,
        "scope" text null,
        "teams" json not null,
        "keys" json not null,
        "models" json not null,
        "tags" json not null,
        "priority" integer null,
        "is_default" integer not null,
        "created_at" datetime not null,
        "created_by" text not null,
        "updated_at" datetime not null,
        "updated_by" text not null,
        "revision" integer not null default 1
      );
CREATE INDEX "policy_attachment_created_at_id_index" on "policy_attachment" ("created_at", "id");
CREATE INDEX "spend_row_cache_hit_index" on "spend_row" ("started_at") where cache_hit_key is not null;
CREATE TABLE "prompt" (
        "id" text not null primary key,
        "prompt_id" text not null,
        "version" integer not null,
        "params" json not null,
        "info" json not null,
        "environment" text not null,
        "created_at" datetime not null,
        "created_by" text not null,
        "updated_at" datetime not null,
        "updated_by" text not null,
        "revision" integer not null default 1
      );
CREATE INDEX "prompt_created_at_id_index" on "prompt" ("created_at", "id");
CREATE INDEX "spend_row_routed_index" on "spend_row" ("started_at") where "routing" is not null;
CREATE TABLE "command_line_session" (
        "id" text not null primary key,
        "user_id" text not null,
        "role" text not null,
        "team_id" text null,
        "needs_membership" integer not null,
        "client_name" text not null,
        "client_hash" text not null,
        "opened_by" text not null,
        "code_hash" text not null,
        "family_hash" text not null,
        "secret_hash" text not null,
        "previous_secret_hash" text null,
        "key_hash" text not null,
        "previous_key_hash" text null,
        "renewed_at" datetime not null,
        "expires_at" datetime not null,
        "created_at" datetime not null,
        "created_by" text not null,
        "updated_at" datetime not null,
        "updated_by" text not null,
        "revision" integer not null default 1
      );
CREATE UNIQUE INDEX "command_line_session_code_hash_unique" on "command_line_session" ("code_hash");
CREATE UNIQUE INDEX "command_line_session_family_hash_unique" on "command_line_session" ("family_hash");
CREATE INDEX "command_line_session_key_hash_index" on "command_line_session" ("key_hash");
CREATE INDEX "command_line_session_previous_key_hash_index" on "command_line_session" ("previous_key_hash");
CREATE INDEX "command_line_session_expires_at_index" on "command_line_session" ("expires_at");
CREATE INDEX "command_line_session_created_at_id_index" on "command_line_session" ("created_at", "id");
CREATE INDEX "command_line_session_user_id_created_at_index" on "command_line_session" ("user_id", "created_at");
CREATE TABLE "plugin" (
        "id" text not null primary key,
        "name" text not null,
        "source" json not null,
        "version" text null,
        "description" text null,
        "author" json null,
        "homepage" text null,
        "keywords" json not null,
        "category" text null,
        "domain" text null,
        "namespace" text null,
        "enabled" integer not null,
        "created_at" datetime not null,
        "created_by" text not null,
        "updated_at" datetime not null,
        "updated_by" text not null,
        "revision" integer not null default 1
      );
CREATE UNIQUE INDEX "plugin_name_unique" on "plugin" ("name");
CREATE INDEX "plugin_created_at_id_index" on "plugin" ("created_at", "id");
CREATE TABLE "vector_store_index" (
        "id" text not null primary key,
        "name" text not null,
        "store_id" text not null,
        "account_name" text not null,
        "info" json null,
        "created_at" datetime not null,
        "created_by" text not null,
        "updated_at" datetime not null,
        "updated_by" text not null,
        "revision" integer not null default 1
      );
CREATE UNIQUE INDEX "vector_store_index_name_unique" on "vector_store_index" ("name");
CREATE INDEX "vector_store_index_created_at_id_index" on "vector_store_index" ("created_at", "id");
CREATE TABLE "tool" (
        "id" text not null primary key,
        "name" text not null,
        "origin" text not null,
        "input_policy" text not null,
        "output_policy" text not null,
        "call_count" bigint not null,
        "key_hash" text null,
        "key_alias" text null,
        "team_id" text null,
        "user_agent" text null,
        "last_used_at" datetime null,
        "created_at" datetime not null,
        "created_by" text not null,
        "updated_at" datetime not null,
        "updated_by" text not null,
        "revision" integer not null default 1
      );
CREATE TABLE "tool_override" (
        "id" text not null primary key,
        "tool_name" text not null,
        "scope" text not null,
        "team_id" text null,
        "key_hash" text null,
        "alias" text null,
        "created_at" datetime not null,
        "created_by" text not null,
        "updated_at" datetime not null,
        "updated_by" text not null,
        "revision" integer not null default 1
      );
CREATE TABLE "tool_day" (
        "day" text not null,
        "name" text not null,
        "calls" bigint not null,
        "cost" bigint not null,
        "tokens" bigint not null,
        primary key ("day", "name")
      );
CREATE TABLE "tool_call" (
        "id" text not null primary key,
        "name" text not null,
        "request_id" text not null,
        "at" bigint not null,
        "model" text not null,
        "cost" bigint null,
        "tokens" bigint not null
      );
CREATE UNIQUE INDEX "tool_name_unique" on "tool" ("name");
CREATE INDEX "tool_created_at_id_index" on "tool" ("created_at", "id");
CREATE UNIQUE INDEX "tool_override_tool_name_scope_unique" on "tool_override" ("tool_name", "scope");
CREATE INDEX "tool_call_name_at_id_index" on "tool_call" ("name", "at", "id");
CREATE INDEX "tool_call_at_index" on "tool_call" ("at");
CREATE TABLE "workflow_run" (
        "id" text not null primary key,
        "session_id" text not null,
        "type" text not null,
        "status" text not null,
        "key_hash" text not null,
        "input" json null,
        "output" json null,
        "metadata" json null,
        "size" bigint not null,
        "event_count" integer not null,
        "message_count" integer not null,
        "created_at" datetime not null,
        "created_by" text not null,
        "updated_at" datetime not null,
        "updated_by" text not null,
        "revision" integer not null default 1
      );
CREATE TABLE "workflow_event" (
        "run_id" text not null,
        "sequence" integer not null,
        "id" text not null,
        "type" text not null,
        "step_name" text not null,
        "data" text null,
        "at" bigint not null,
        primary key ("run_id", "sequence")
      );
CREATE TABLE "workflow_message" (
        "run_id" text not null,
        "sequence" integer not null,
        "id" text not null,
        "role" text not null,
        "content" text not null,
        "session_id" text null,
        "at" bigint not null,
        primary key ("run_id", "sequence")
      );
CREATE INDEX "workflow_run_created_at_id_index" on "workflow_run" ("created_at", "id");
CREATE INDEX "workflow_run_key_hash_created_at_id_index" on "workflow_run" ("key_hash", "created_at", "id");
CREATE INDEX "upstream_object_open_index" on "upstream_object" ("kind", "created_at", "id")
      where "open_cost" is not null
    ;
insert into "schema_migration" ("name") values
('Migration20261121000000_foundation'),
('Migration20261121010000_catalog_releases'),
('Migration20261121020000_catalog_history'),
('Migration20261121030000_free_tier'),
('Migration20261121040000_checkout'),
('Migration20261121050000_trace_store'),
('Migration20261121070000_upstream_object'),
('Migration20261121080000_response'),
('Migration20261121090000_trace_facts'),
('Migration20261121100000_call_segment'),
('Migration20261121110000_gateway_calls'),
('Migration20261122020000_span_sheet'),
('Migration20261122030000_call_note'),
('Migration20261122040000_trace_preview'),
('Migration20261122050000_trace_root'),
('Migration20261122060000_blank_ids'),
('Migration20261122070000_key_changes'),
('Migration20261122080000_masked_names'),
('Migration20261123000000_sql_views'),
('Migration20261123010000_key_settings'),
('Migration20261123020000_tenancy'),
('Migration20261123030000_spend_labels'),
('Migration20261123060000_owner_windows'),
('Migration20261123071000_models'),
('Migration20261123083257_gateway_activity'),
('Migration20261123092100_annotation'),
('Migration20261123100000_job'),
('Migration20261123101000_access_groups'),
('Migration20261123102000_key_references'),
('Migration20261123110000_lens'),
('Migration20261123110000_pass_through'),
('Migration20261123110000_settings'),
('Migration20261123111000_coding_agents'),
('Migration20261123120100_audit_log'),
('Migration20261123120200_spend_days'),
('Migration20261123123100_lens_neighbours'),
('Migration20261123124000_decisions'),
('Migration20261123125140_trace_labels'),
('Migration20261123181900_outcome_scopes'),
('Migration20261123184300_audit_actor'),
('Migration20261123184700_upstream_object_labels'),
('Migration20261123190755_admission'),
('Migration20261124001000_budget_windows'),
('Migration20261124001334_pending_sign_in'),
('Migration20261124002000_batch_calls'),
('Migration20261124003000_guardrails'),
('Migration20261124003100_guardrail_use'),
('Migration20261124010100_spend_row_guardrails'),
('Migration20261124083630_health_checks'),
('Migration20261124135908_budget_window_start'),
('Migration20261124143500_temporary_budgets'),
('Migration20261124164846_annotation_filters'),
('Migration20261124201929_key_lists'),
('Migration20261124203404_team_budget_windows'),
('Migration20261124214724_member_spend'),
('Migration20261124232345_token_mappings'),
('Migration20261129124554_batch_user'),
('Migration20261129134834_token_keys'),
('Migration20261130101000_mcp_servers'),
('Migration20261130101100_mcp_toolsets'),
('Migration20261130101500_vector_stores'),
('Migration20261130102424_a2a_agents'),
('Migration20261130120000_search_tools'),
('Migration20261130120100_memory'),
('Migration20261130141000_policies'),
('Migration20261130141406_spend_row_cache'),
('Migration20261130141500_object_permissions'),
('Migration20261130141500_prompts'),
('Migration20261130142536_spend_row_routing'),
('Migration20261130174905_command_line_sessions'),
('Migration20261130181811_plugins'),
('Migration20261130211500_vector_store_indexes'),
('Migration20261130211700_tools'),
('Migration20261130211800_workflows'),
('Migration20261201044500_open_costs');
