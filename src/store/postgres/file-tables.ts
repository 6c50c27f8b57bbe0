/** Tables of folders, their files and the chunks that files share (Q14). */
export const fileTables = `
  CREATE TABLE skillet.folders (
    name text COLLATE "C" PRIMARY KEY,
    version uuid NOT NULL,
    previous uuid,
    used_at bigint NOT NULL
  );

  CREATE TABLE skillet.files (
    folder text NOT NULL COLLATE "C" REFERENCES skillet.folders (name) ON DELETE CASCADE,
    path text NOT NULL COLLATE "C",
    kind text NOT NULL CHECK (kind IN ('file', 'folder', 'link')),
    executable boolean NOT NULL,
    size bigint NOT NULL,
    changed_at bigint NOT NULL,
    used_at bigint NOT NULL,
    target text NOT NULL,
    PRIMARY KEY (folder, path)
  );

  CREATE TABLE skillet.chunks (
    hash bytea PRIMARY KEY,
    bytes bytea NOT NULL,
    used_at bigint NOT NULL
  );
  -- Most of it is packed already.
  ALTER TABLE skillet.chunks ALTER bytes SET STORAGE EXTERNAL;

  CREATE TABLE skillet.file_chunks (
    folder text NOT NULL COLLATE "C",
    path text NOT NULL COLLATE "C",
    place integer NOT NULL,
    chunk bytea NOT NULL REFERENCES skillet.chunks (hash),
    PRIMARY KEY (folder, path, place),
    FOREIGN KEY (folder, path) REFERENCES skillet.files (folder, path) ON DELETE CASCADE
  );
  CREATE INDEX file_chunks_chunk ON skillet.file_chunks (chunk);

  -- One change of a folder, refused where the queue was lost. Who writes last wins, path by path: a file replaces what was below
  -- its name, and what is in a folder replaces a file of the folder's name ("above"). The row of the folder makes others wait.
  CREATE FUNCTION skillet.write_files(of_epoch uuid, of_job_queue text, of_job uuid, of_attempt integer, of_folder text, at bigint,
    only_new boolean, removed text[], above text[], paths text[], kinds text[], executables boolean[], sizes bigint[],
    changes bigint[], targets text[], of_files integer[], hashes text[]) RETURNS TABLE (before text, after text) AS $$
  DECLARE
    was uuid;
    now_is uuid := gen_random_uuid();
  BEGIN
    PERFORM skillet.held(of_epoch, of_job_queue, of_job, of_attempt, false);
    INSERT INTO skillet.folders AS known (name, version, used_at) VALUES (of_folder, now_is, at)
      ON CONFLICT (name) DO UPDATE SET previous = known.version, version = excluded.version, used_at = excluded.used_at
      RETURNING known.previous INTO was;
    IF NOT only_new THEN
      DELETE FROM skillet.files WHERE folder = of_folder AND path = ANY (removed);
      DELETE FROM skillet.files WHERE folder = of_folder AND path = ANY (paths);
      DELETE FROM skillet.files WHERE folder = of_folder AND path = ANY (above) AND kind <> 'folder';
      DELETE FROM skillet.files AS f USING unnest(paths, kinds) AS new (path, kind)
        WHERE f.folder = of_folder AND new.kind <> 'folder' AND f.path > new.path || '/' AND f.path < new.path || '0';
    END IF;
    WITH added AS (
      INSERT INTO skillet.files (folder, path, kind, executable, size, changed_at, used_at, target)
        SELECT of_folder, new.path, new.kind, new.executable, new.size, new.changed, at, new.target
        FROM unnest(paths, kinds, executables, sizes, changes, targets) AS new (path, kind, executable, size, changed, target)
        ON CONFLICT DO NOTHING RETURNING path)
    INSERT INTO skillet.file_chunks (folder, path, place, chunk)
      SELECT of_folder, added.path, part.place, decode(part.hash, 'hex')
      FROM unnest(of_files, hashes) WITH ORDINALITY AS part (of_file, hash, place)
      JOIN unnest(paths) WITH ORDINALITY AS named (path, nr) ON named.nr = part.of_file
      JOIN added ON added.path = named.path;
    RETURN QUERY SELECT was::text, now_is::text;
  END $$ LANGUAGE plpgsql;`;
