import { Migration } from '@mikro-orm/migrations';

/**
 * Counters that several processes share (ADR 0062). The tables are unlogged: after a crash of the server they are
 * empty, and the processes report their shares again. The state of a counter is `b` base, `v` version of the list of
 * members, `w` start of the window, `t` share and `c` stored part of each process.
 */
export class Migration20261123190755_admission extends Migration {
  override up(): void {
    this.addSql(
      `create unlogged table "admission_counter" ("name" text not null, "state" text not null, "used_ms" bigint not null, primary key ("name")) with (fillfactor = 50)`,
    );
    this.addSql(
      `create unlogged table "admission_process" ("name" text not null, "until_ms" bigint not null, primary key ("name")) with (fillfactor = 50)`,
    );
    this.addSql(ADMISSION_ASK);
  }

  override down(): void {
    this.addSql(`drop function "admission_ask"`);
    this.addSql(`drop table "admission_process"`);
    this.addSql(`drop table "admission_counter"`);
  }
}

/**
 * Answers asks; each answer has the position of its ask. Counters are locked in the order of their names, so that two
 * processes do not deadlock.
 */
const ADMISSION_ASK = `
create function "admission_ask"(me text, lease_ms bigint, window_length bigint, alone_part numeric, process_part numeric, asks jsonb)
returns jsonb language plpgsql set lock_timeout = '200ms' as $body$
declare
  now_ms bigint := (extract(epoch from clock_timestamp()) * 1000)::bigint;
  alive jsonb;
  processes bigint;
  part numeric;
  answers jsonb := '{}';
  ask jsonb;
  stored_state text;
  t jsonb;
  c jsonb;
  b numeric;
  v bigint;
  w bigint;
  kind text;
  held numeric;
  need numeric;
  stored numeric;
  others numeric;
  remaining numeric;
  granted numeric;
  known boolean;
  fits boolean;
  member text;
  is_new boolean;
begin
  is_new := not exists (select from admission_process where name = me and until_ms > now_ms);
  insert into admission_process (name, until_ms) values (me, now_ms + lease_ms)
    on conflict (name) do update set until_ms = excluded.until_ms;
  select coalesce(jsonb_object_agg(name, true), '{}'), count(*) into alive, processes
    from admission_process where until_ms > now_ms;
  part := case when processes <= 1 then alone_part else process_part * processes end;
  for ask in select value from jsonb_array_elements(asks) order by value->>'counter' loop
    loop
      select state into stored_state from admission_counter where name = ask->>'counter' for update;
      exit when found;
      insert into admission_counter (name, state, used_ms) values (ask->>'counter', '{}', now_ms) on conflict do nothing;
    end loop;
    now_ms := (extract(epoch from clock_timestamp()) * 1000)::bigint;
    kind := ask->>'kind';
    held := (ask->>'held')::numeric;
    need := (ask->>'need')::numeric;
    stored := (ask->>'stored')::numeric;
    t := coalesce(stored_state::jsonb->'t', '{}');
    c := coalesce(stored_state::jsonb->'c', '{}');
    b := coalesce((stored_state::jsonb->>'b')::numeric, 0);
    v := coalesce((stored_state::jsonb->>'v')::bigint, 0);
    w := coalesce((stored_state::jsonb->>'w')::bigint, 0);
    known := true;
    if kind = 'window' then
      if now_ms - w >= window_length then
        w := now_ms;
        t := '{}';
      end if;
      if ask->>'window' is null then
        held := held + coalesce((t->>me)::numeric, 0);
      elsif (ask->>'window')::bigint <> w then
        held := 0;
      end if;
    else
      for member in select jsonb_object_keys(t) loop
        -- A process that began after this statement may have committed before the lock of the row.
        if (member = me and (ask->>'joins')::boolean)
          or (alive->member is null and not exists (
            select from admission_process where name = member and until_ms > now_ms)) then
          b := b + case when kind = 'spend' then coalesce((c->>member)::numeric, 0) else 0 end;
          v := v + case when kind = 'spend' then 1 else 0 end;
          t := t - member;
          c := c - member;
        end if;
      end loop;
      if kind = 'spend' then
        fits := coalesce((ask->>'version')::bigint = v, false);
        known := fits or not (v = 0 or (t->me is null and stored > 0));
        if known then
          if fits then
            b := (ask->>'base')::numeric;
          end if;
          if t->me is null then
            v := v + 1;
          end if;
        end if;
      end if;
    end if;
    granted := 0;
    remaining := 0;
    if known then
      select coalesce(sum(value::numeric), 0), coalesce(sum(value::numeric - coalesce((c->>key)::numeric, 0)), 0)
        into remaining, others from jsonb_each_text(t) where key <> me;
      remaining := (ask->>'limit')::numeric - b - held - remaining;
      if remaining >= need then
        granted := need;
      elsif kind <> 'spend' then
        granted := greatest(0, remaining);
      elsif remaining > 0 then
        granted := greatest(remaining, (ask->>'largest')::numeric);
      end if;
      if remaining = 0 and others = 0 and (ask->>'atLimit')::boolean then
        granted := (ask->>'largest')::numeric;
      end if;
      if remaining > need then
        granted := granted + least((ask->>'spare')::numeric, div(remaining - need, part));
      end if;
      if kind = 'slots' and held + granted = 0 then
        t := t - me;
      else
        t := jsonb_set(t, array[me], to_jsonb(held + granted));
      end if;
      if kind = 'spend' then
        c := jsonb_set(c, array[me], to_jsonb(stored));
      end if;
    end if;
    update admission_counter set state = jsonb_build_object('t', t, 'c', c, 'b', b, 'v', v, 'w', w)::text, used_ms = now_ms
      where name = ask->>'counter';
    answers := answers || jsonb_build_object(ask->>'position',
      jsonb_build_array(known, granted::text, remaining::text, w, w + window_length - now_ms));
  end loop;
  return answers || jsonb_build_object('isNew', is_new);
end
$body$`;
