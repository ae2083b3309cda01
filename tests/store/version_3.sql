BEGIN TRANSACTION;
CREATE TABLE jobs (
  id VARCHAR(40) NOT NULL,
  project_id VARCHAR(80) NOT NULL,
  kind VARCHAR(12) NOT NULL,
  payload JSON NOT NULL,
  status VARCHAR(12) NOT NULL,
  created_at DATETIME NOT NULL,
  ended_at DATETIME,
  message TEXT NOT NULL,
  result JSON,
  host VARCHAR(200),
  PRIMARY KEY (id),
  FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE
);
INSERT INTO "jobs" VALUES('bec599dde34d40c8855dc53afc681876','payments-62f9ab','layout','{"kind": "umap", "run": "37448b633ddb4eca99ce227ce60a1a1c"}','failed','2024-11-18 01:38:50.928828','2024-11-18 01:38:50.945061','no embedding','null','another-host');
INSERT INTO "jobs" VALUES('81bde2282370445da12f64ef8655034f','payments-62f9ab','layout','{"kind": "tsne", "run": "37448b633ddb4eca99ce227ce60a1a1c"}','queued','2024-11-18 01:38:50.958407',NULL,'',NULL,NULL);
CREATE TABLE label_events (
  id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  project_id VARCHAR(80) NOT NULL,
  kind VARCHAR(8) NOT NULL,
  event_group VARCHAR(40) NOT NULL,
  node_id TEXT NOT NULL,
  verdict VARCHAR(12),
  analyst VARCHAR(200) NOT NULL,
  at DATETIME NOT NULL,
  source VARCHAR(40) NOT NULL,
  note TEXT NOT NULL,
  strategy VARCHAR(40) NOT NULL,
  inclusion_probability FLOAT,
  drawn_after INTEGER,
  weight FLOAT NOT NULL,
  FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE
);
INSERT INTO "label_events" VALUES(1,'payments-62f9ab','label','357a7456115a4c16977692c3b5065606','a1','normal','ana','2024-11-18 01:37:35.826122','cli','','',NULL,NULL,1.0);
INSERT INTO "label_events" VALUES(2,'payments-62f9ab','label','746fb8dc5d014c80ba24c0f393a93a55','a10','anomalous','ana','2024-11-18 01:37:48.640480','cli','','',NULL,NULL,1.0);
CREATE TABLE preferences (
  project_id VARCHAR(80) NOT NULL,
  "key" VARCHAR(80) NOT NULL,
  value JSON,
  UNIQUE (project_id, "key"),
  FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE
);
CREATE TABLE progress (
  id INTEGER NOT NULL,
  run_id VARCHAR(40) NOT NULL,
  epoch INTEGER NOT NULL,
  epochs INTEGER NOT NULL,
  loss FLOAT,
  auc FLOAT,
  stage VARCHAR(60) NOT NULL,
  PRIMARY KEY (id),
  FOREIGN KEY(run_id) REFERENCES runs (id) ON DELETE CASCADE
);
INSERT INTO "progress" VALUES(1,'ed37ebba039e42faab99b680f4f55cce',1,9,0.5,0.6,'training');
CREATE TABLE projects (
  id VARCHAR(80) NOT NULL,
  name VARCHAR(200) NOT NULL,
  owner VARCHAR(200) NOT NULL,
  created_at DATETIME NOT NULL,
  n_nodes INTEGER NOT NULL,
  n_edges INTEGER NOT NULL,
  n_features INTEGER NOT NULL,
  fingerprint VARCHAR(64) NOT NULL,
  has_truth BOOLEAN NOT NULL,
  run_in_use VARCHAR(40),
  n_events INTEGER NOT NULL,
  PRIMARY KEY (id),
  UNIQUE (name)
);
INSERT INTO "projects" VALUES('payments-62f9ab','payments','ana','2024-11-18 01:37:24.520439',60,145,2,'68cd22da49c7d891509b967db4796ff9bf741784ecdecf6bc94495b95c61fe03',1,'37448b633ddb4eca99ce227ce60a1a1c',2);
CREATE TABLE runs (
  id VARCHAR(40) NOT NULL,
  project_id VARCHAR(80) NOT NULL,
  number INTEGER NOT NULL,
  status VARCHAR(12) NOT NULL,
  model VARCHAR(40) NOT NULL,
  params JSON NOT NULL,
  seed INTEGER NOT NULL,
  warm BOOLEAN NOT NULL,
  for_use BOOLEAN DEFAULT 1 NOT NULL,
  device VARCHAR(20) NOT NULL,
  graph_fingerprint VARCHAR(64) NOT NULL,
  label_hash VARCHAR(64) NOT NULL,
  normal INTEGER NOT NULL,
  anomalous INTEGER NOT NULL,
  unsure INTEGER NOT NULL,
  created_at DATETIME NOT NULL,
  started_at DATETIME,
  ended_at DATETIME,
  seconds FLOAT,
  epoch INTEGER NOT NULL,
  epochs INTEGER NOT NULL,
  stage VARCHAR(60) NOT NULL,
  loss FLOAT,
  auc FLOAT,
  basis VARCHAR(40) NOT NULL,
  message TEXT NOT NULL,
  versions JSON NOT NULL,
  heartbeat_at DATETIME,
  cancel BOOLEAN NOT NULL,
  pid INTEGER,
  host VARCHAR(200),
  PRIMARY KEY (id),
  UNIQUE (project_id, number),
  FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE
);
INSERT INTO "runs" VALUES('37448b633ddb4eca99ce227ce60a1a1c','payments-62f9ab',1,'done','sgc-lr','{}',0,1,1,'cpu','68cd22da49c7d891509b967db4796ff9bf741784ecdecf6bc94495b95c61fe03','6fdb3f6d1c94ad435e35dce39ee11c35a52fc55825e2fec13244c4650433dbaf',1,1,0,'2024-11-18 01:38:02.298478','2024-11-18 01:38:02.296269','2024-11-18 01:38:02.627964',0.331695,4,4,'done',0.692975930873362,NULL,'both labels','','{"ringfence": "0.1.0", "python": "3.11.7", "torch": "2.13.0+cpu", "torch-geometric": "2.8.1", "numpy": "2.4.6", "scipy": "1.17.1", "scikit-learn": "1.9.1", "xgboost-cpu": "3.2.0"}','2024-11-18 01:38:02.499562',0,4846,'another-host');
INSERT INTO "runs" VALUES('db2efc86fea043808f8dedb4b5e88147','payments-62f9ab',2,'failed','sgc-lr','{"nonsense": 1}',0,1,1,'auto','68cd22da49c7d891509b967db4796ff9bf741784ecdecf6bc94495b95c61fe03','6fdb3f6d1c94ad435e35dce39ee11c35a52fc55825e2fec13244c4650433dbaf',1,1,0,'2024-11-18 01:38:50.685892','2024-11-18 01:38:50.683370','2024-11-18 01:38:50.806026',0.122656,0,0,'loading',NULL,NULL,'','The model ''sgc-lr'' has no parameter nonsense. It has: seed, max_hops, strengths, folds.','{}','2024-11-18 01:38:50.802763',0,5521,'another-host');
INSERT INTO "runs" VALUES('ed37ebba039e42faab99b680f4f55cce','payments-62f9ab',3,'running','sgc-lr','{}',4,1,1,'cpu','68cd22da49c7d891509b967db4796ff9bf741784ecdecf6bc94495b95c61fe03','6fdb3f6d1c94ad435e35dce39ee11c35a52fc55825e2fec13244c4650433dbaf',1,1,0,'2024-11-18 01:38:50.843656','2024-11-18 01:38:50.863658',NULL,NULL,1,9,'training',0.5,0.6,'','','{}','2024-11-18 01:38:50.865859',0,5521,'another-host');
INSERT INTO "runs" VALUES('322cc11f31e447238e97f273ebb0ece9','payments-62f9ab',4,'queued','sgc-lr','{}',5,0,1,'auto','68cd22da49c7d891509b967db4796ff9bf741784ecdecf6bc94495b95c61fe03','6fdb3f6d1c94ad435e35dce39ee11c35a52fc55825e2fec13244c4650433dbaf',1,1,0,'2024-11-18 01:38:50.893857',NULL,NULL,NULL,0,0,'',NULL,NULL,'','','{}',NULL,0,NULL,NULL);
CREATE TABLE schema_version (
  version INTEGER NOT NULL
);
INSERT INTO "schema_version" VALUES(3);
CREATE INDEX label_events_of_project ON label_events (project_id, id);
CREATE INDEX runs_by_status ON runs (status);
CREATE INDEX jobs_by_status ON jobs (status);
CREATE INDEX ix_progress_run_id ON progress (run_id);
COMMIT;
