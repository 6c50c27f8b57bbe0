/**
 * Functions of the server for many queues at once: arrays with one place for each queue. A lost queue is reported and
 * harms no other.
 */
export const queueFunctions = `
  -- Emptied by the server when it recovers from a crash, in which it may have lost what was written to memory only. A queue is
  -- held under the epoch it was claimed in: nobody continues with one whose last steps the server forgot.
  CREATE UNLOGGED TABLE skillet.epoch (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    id uuid NOT NULL DEFAULT gen_random_uuid()
  );

  CREATE FUNCTION skillet.current_epoch() RETURNS uuid AS $$
  DECLARE current uuid;
  BEGIN
    SELECT id INTO current FROM skillet.epoch;
    IF FOUND THEN RETURN current; END IF;
    INSERT INTO skillet.epoch DEFAULT VALUES ON CONFLICT DO NOTHING;
    SELECT id INTO current FROM skillet.epoch;
    RETURN current;
  END $$ LANGUAGE plpgsql;

  -- Whether a queue's job is held by this very claim, which it stays until the transaction ends: anyone who takes the queue over
  -- replaces the job's row. Without a job there is nothing to hold.
  CREATE FUNCTION skillet.holds(of_epoch uuid, job_queue text, job uuid, attempt integer) RETURNS boolean AS $$
  BEGIN
    IF job IS NULL THEN RETURN true; END IF;
    PERFORM 1 FROM skillet_jobs.job_common
      WHERE name = job_queue AND id = job AND state = 'active' AND retry_count = attempt FOR KEY SHARE;
    RETURN FOUND AND EXISTS (SELECT 1 FROM skillet.epoch WHERE id = of_epoch);
  END $$ LANGUAGE plpgsql;

  -- The same for a statement on its own, which is refused where the queue was lost. "durable": it is committed to disk.
  CREATE FUNCTION skillet.held(of_epoch uuid, job_queue text, job uuid, attempt integer, durable boolean) RETURNS boolean AS $$
  BEGIN
    IF durable THEN PERFORM set_config('synchronous_commit', 'on', true); END IF;
    IF NOT skillet.holds(of_epoch, job_queue, job, attempt) THEN
      RAISE EXCEPTION 'the queue was lost' USING ERRCODE = 'SKL01';
    END IF;
    RETURN true;
  END $$ LANGUAGE plpgsql;

  -- When the head of a queue is due; undefined if the queue is empty.
  CREATE FUNCTION skillet.head_due(kind text, of_queue text) RETURNS bigint AS $$
  BEGIN
    IF kind = 'inbox' THEN
      RETURN (SELECT due_at FROM skillet.inbox WHERE status = 'waiting' AND queue = of_queue ORDER BY seq LIMIT 1);
    END IF;
    RETURN (SELECT CASE WHEN status = 'sending' THEN 0 ELSE due_at END FROM skillet.outbox
      WHERE finished_at IS NULL AND queue = of_queue ORDER BY seq LIMIT 1);
  END $$ LANGUAGE plpgsql;

  -- What becomes of queues whose turn is over: "again" (its head is due, and it need not yield), "gone" (empty), a number
  -- (milliseconds until it is due; it has a new job) or "lost". "waits": milliseconds that it has to wait at least.
  CREATE FUNCTION skillet.give_back(kind text, locks bigint[], queues text[], job_queues text[], jobs uuid[], attempts integer[],
    yields boolean[], waits bigint[], at bigint) RETURNS text[] AS $$
  DECLARE
    outcomes text[] := array_fill(NULL::text, ARRAY[cardinality(queues)]);
    due bigint;
  BEGIN
    -- Most go on, and need no lock for that: nobody else ends this queue.
    FOR i IN 1..cardinality(queues) LOOP
      IF NOT yields[i] AND waits[i] = 0 AND skillet.head_due(kind, queues[i]) <= at THEN outcomes[i] := 'again'; END IF;
    END LOOP;
    -- In one order for all who take several.
    PERFORM pg_advisory_xact_lock(lock) FROM (
      SELECT lock FROM unnest(locks, outcomes) AS each (lock, outcome) WHERE outcome IS NULL ORDER BY lock) AS sorted;
    FOR i IN 1..cardinality(queues) LOOP
      CONTINUE WHEN outcomes[i] IS NOT NULL;
      due := skillet.head_due(kind, queues[i]);
      IF due <= at AND NOT yields[i] AND waits[i] = 0 THEN
        outcomes[i] := 'again';
        CONTINUE;
      END IF;
      -- Deleted, not completed: nothing is left to be swept away.
      DELETE FROM skillet_jobs.job_common
        WHERE name = job_queues[i] AND id = jobs[i] AND state = 'active' AND retry_count = attempts[i];
      IF NOT FOUND THEN
        outcomes[i] := 'lost';
      ELSIF due IS NULL THEN
        outcomes[i] := 'gone';
      ELSE
        outcomes[i] := greatest(due - at, waits[i], 0);
        PERFORM skillet.offer(job_queues[i], queues[i], outcomes[i]::bigint);
      END IF;
    END LOOP;
    RETURN outcomes;
  END $$ LANGUAGE plpgsql;

  -- The due heads of queues, marked as taken; "before": when they were taken before. A queue whose head is not due has no row.
  CREATE FUNCTION skillet.take(epochs uuid[], job_queues text[], jobs uuid[], attempts integer[], queues text[], at bigint)
    RETURNS TABLE (place integer, held boolean, item skillet.inbox, before bigint) AS $$
  DECLARE head bigint;
  BEGIN
    FOR i IN 1..cardinality(queues) LOOP
      place := i;
      item := NULL;
      held := skillet.holds(epochs[i], job_queues[i], jobs[i], attempts[i]);
      IF NOT held THEN
        RETURN NEXT;
        CONTINUE;
      END IF;
      SELECT seq, taken_at INTO head, before FROM skillet.inbox
        WHERE status = 'waiting' AND queue = queues[i] ORDER BY seq LIMIT 1;
      CONTINUE WHEN NOT FOUND;
      UPDATE skillet.inbox SET was_taken = true, join_key = NULL, taken_at = at
        WHERE seq = head AND status = 'waiting' AND due_at <= at RETURNING inbox.* INTO item;
      IF FOUND THEN RETURN NEXT; END IF;
    END LOOP;
  END $$ LANGUAGE plpgsql;

  -- Marks parts as being sent, on the disk before the platform hears of them. Gives which queues were held.
  CREATE FUNCTION skillet.begin_sends(epochs uuid[], job_queues text[], jobs uuid[], attempts integer[], keys text[])
    RETURNS boolean[] AS $$
  DECLARE held boolean[];
  BEGIN
    PERFORM set_config('synchronous_commit', 'on', true);
    FOR i IN 1..cardinality(keys) LOOP
      held[i] := skillet.holds(epochs[i], job_queues[i], jobs[i], attempts[i]);
      IF held[i] THEN
        UPDATE skillet.outbox SET status = 'sending' WHERE finished_at IS NULL AND key = keys[i];
      END IF;
    END LOOP;
    RETURN held;
  END $$ LANGUAGE plpgsql;

  -- Several steps, each whole or, where its queue was lost, not at all. Their rows come together, each with the place of its
  -- step; rows that many write are taken in one order, so that two of these never wait for each other. Gives which were held.
  CREATE FUNCTION skillet.write_steps(durable boolean, locks bigint[], at bigint,
    epochs uuid[], job_queues text[], jobs uuid[], attempts integer[], done text[],
    entry_of integer[], entry_transcripts text[], entry_kinds text[], entry_texts text[], entry_times bigint[],
    part_of integer[], part_keys text[], part_queues text[], part_job_queues text[], part_places text[], part_texts text[],
    use_of integer[], use_days text[], use_senders text[], use_conversations text[], use_skills text[], use_models text[],
    use_input bigint[], use_output bigint[], use_read bigint[], use_write bigint[]) RETURNS boolean[] AS $$
  DECLARE held boolean[];
  BEGIN
    IF durable THEN PERFORM set_config('synchronous_commit', 'on', true); END IF;
    -- Sorted by the caller.
    PERFORM pg_advisory_xact_lock(lock) FROM unnest(locks) AS lock;
    FOR i IN 1..cardinality(job_queues) LOOP
      held[i] := skillet.holds(epochs[i], job_queues[i], jobs[i], attempts[i]);
    END LOOP;
    IF cardinality(entry_of) > 0 THEN
      INSERT INTO skillet.entries (transcript, kind, entry)
        SELECT new.transcript, new.kind, new.entry
        FROM unnest(entry_of, entry_transcripts, entry_kinds, entry_texts) WITH ORDINALITY
          AS new (step, transcript, kind, entry, place)
        WHERE held[new.step] ORDER BY new.place;
      INSERT INTO skillet.transcript_times AS kept (transcript, last_at)
        SELECT new.transcript, max(new.time) FROM unnest(entry_of, entry_transcripts, entry_times) AS new (step, transcript, time)
        WHERE held[new.step] GROUP BY new.transcript ORDER BY new.transcript
        ON CONFLICT (transcript) DO UPDATE SET last_at = greatest(kept.last_at, excluded.last_at);
    END IF;
    IF cardinality(use_of) > 0 THEN
      INSERT INTO skillet.usage AS kept
        (day, sender, conversation, skill, model, requests, input, output, cache_read, cache_write)
        SELECT new.day, new.sender, new.conversation, new.skill, new.model, count(*),
          sum(new.input), sum(new.output), sum(new.read), sum(new.write)
        FROM unnest(use_of, use_days, use_senders, use_conversations, use_skills, use_models, use_input, use_output,
          use_read, use_write) AS new (step, day, sender, conversation, skill, model, input, output, read, write)
        WHERE held[new.step] GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5
        ON CONFLICT (day, sender, conversation, skill, model) DO UPDATE SET requests = kept.requests + excluded.requests,
          input = kept.input + excluded.input, output = kept.output + excluded.output,
          cache_read = kept.cache_read + excluded.cache_read, cache_write = kept.cache_write + excluded.cache_write;
    END IF;
    FOR i IN 1..coalesce(cardinality(part_of), 0) LOOP
      CONTINUE WHEN NOT held[part_of[i]];
      INSERT INTO skillet.outbox (key, queue, conversation, part, status)
        VALUES (part_keys[i], part_queues[i], part_places[i], part_texts[i], 'waiting') ON CONFLICT (key) DO NOTHING;
      IF part_job_queues[i] IS NOT NULL THEN PERFORM skillet.offer(part_job_queues[i], part_queues[i], 0); END IF;
    END LOOP;
    FOR i IN 1..cardinality(done) LOOP
      CONTINUE WHEN done[i] IS NULL OR NOT held[i];
      UPDATE skillet.inbox SET status = 'done', parts = '', join_key = NULL, taken_at = NULL, finished_at = at
        WHERE status IN ('waiting', 'dead') AND seq = (SELECT item FROM skillet.inbox_keys WHERE key = done[i]);
    END LOOP;
    RETURN held;
  END $$ LANGUAGE plpgsql;
`;
