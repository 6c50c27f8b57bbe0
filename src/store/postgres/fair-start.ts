/**
 * Keeps one person's burst from delaying others (Q3). Each message has a round: one after that of the job that is
 * assigned next, and after all waiting messages of the same person (start-time fair queueing). The job of a queue has
 * the round of its head as its negative priority, and pg-boss assigns the lowest round first.
 */
export const fairStart = `
  CREATE FUNCTION skillet.name_nobody() RETURNS trigger AS $$
  BEGIN
    NEW.person := NULL;
    RETURN NEW;
  END $$ LANGUAGE plpgsql;
  CREATE TRIGGER inbox_ended BEFORE UPDATE OF status ON skillet.inbox FOR EACH ROW
    WHEN (NEW.status <> 'waiting' AND OLD.person IS NOT NULL) EXECUTE FUNCTION skillet.name_nobody();

  -- The round of the job that is given out next.
  CREATE FUNCTION skillet.front(job_queue text) RETURNS integer AS $$
  BEGIN
    RETURN (SELECT -priority FROM skillet_jobs.job_common
      WHERE name = job_queue AND state < 'active' AND NOT blocked AND priority < 0 AND start_after <= now()
      ORDER BY priority DESC, created_on LIMIT 1);
  END $$ LANGUAGE plpgsql;

  -- The round of a new message. If no job waits, it is the number of the message: no earlier round is above that, so
  -- nobody overtakes what waits for another reason.
  CREATE FUNCTION skillet.next_round(job_queue text, of_person text) RETURNS integer AS $$
  DECLARE
    next integer := coalesce(skillet.front(job_queue), (SELECT least(last_value, 2000000000) FROM skillet.inbox_seq_seq));
  BEGIN
    RETURN greatest(next, (SELECT max(round) FROM skillet.inbox WHERE person = of_person)) + 1;
  END $$ LANGUAGE plpgsql;

  -- A job for a queue that has none, due in so many milliseconds; anyone who calls holds the queue's lock.
  CREATE FUNCTION skillet.offer(job_queue text, queue text, in_ms bigint) RETURNS void AS $$
  DECLARE
    head integer := 0;
  BEGIN
    IF job_queue LIKE 'inbox/%' THEN
      SELECT coalesce(round, skillet.next_round(job_queue, NULL)) INTO head FROM skillet.inbox AS waiting
        WHERE status = 'waiting' AND waiting.queue = offer.queue ORDER BY seq LIMIT 1;
      -- A queue that was held while others moved on does not jump ahead of them.
      head := greatest(head, skillet.front(job_queue));
    END IF;
    INSERT INTO skillet_jobs.job_common (name, data, singleton_key, policy, priority, start_after, created_on, keep_until,
      retry_limit, retry_delay, retry_backoff, retry_delay_max, expire_seconds, deletion_seconds, heartbeat_seconds)
    SELECT q.name, jsonb_build_object('queue', queue), queue, q.policy, -coalesce(head, 0), due, now(),
      due + q.retention_seconds * interval '1 second',
      q.retry_limit, q.retry_delay, q.retry_backoff, q.retry_delay_max, q.expire_seconds, q.deletion_seconds, q.heartbeat_seconds
    FROM skillet_jobs.queue AS q, (SELECT now() + in_ms * interval '1 millisecond' AS due) AS at
    WHERE q.name = job_queue
    ON CONFLICT DO NOTHING;
  END $$ LANGUAGE plpgsql;

  -- New messages, each an item of its own, on the disk when it is committed: "stored", "queue_full" where so many wait
  -- already, or "known" where nothing was done, for its key was there. Locks are sorted.
  CREATE FUNCTION skillet.accept_new(locks bigint[], keys text[], queues text[], job_queues text[], texts text[], at bigint[],
    most integer, persons text[]) RETURNS text[] AS $$
  DECLARE
    outcomes text[];
    added bigint;
  BEGIN
    PERFORM set_config('synchronous_commit', 'on', true);
    PERFORM pg_advisory_xact_lock(lock) FROM unnest(locks) AS lock;
    FOR i IN 1..cardinality(keys) LOOP
      IF EXISTS (SELECT 1 FROM skillet.inbox_keys WHERE key = keys[i]) THEN
        outcomes[i] := 'known';
      ELSIF (SELECT count(*) FROM skillet.inbox
          WHERE status = 'waiting' AND taken_at IS NULL AND queue = queues[i]) >= most THEN
        outcomes[i] := 'queue_full';
      ELSE
        INSERT INTO skillet.inbox (key, queue, parts, status, due_at, accepted_at, person, round)
          VALUES (keys[i], queues[i], texts[i], 'waiting', at[i], at[i], persons[i], skillet.next_round(job_queues[i], persons[i]))
          RETURNING seq INTO added;
        INSERT INTO skillet.inbox_keys (key, item) VALUES (keys[i], added);
        PERFORM skillet.offer(job_queues[i], queues[i], 0);
        outcomes[i] := 'stored';
      END IF;
    END LOOP;
    RETURN outcomes;
  END $$ LANGUAGE plpgsql;
`;
