CREATE TABLE `agents` (
	`organizationId` text NOT NULL,
	`id` text NOT NULL,
	`name` text NOT NULL,
	`description` text,
	`archivedAt` text,
	`createdAt` text NOT NULL,
	`updatedAt` text NOT NULL,
	`revision` text DEFAULT '0' NOT NULL,
	PRIMARY KEY(`organizationId`, `id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `alerts` (
	`database` integer NOT NULL,
	`name` text NOT NULL,
	`begunAt` text NOT NULL,
	`sentAt` text,
	`endsAt` text,
	PRIMARY KEY(`database`, `name`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `apiKeys` (
	`organizationId` text NOT NULL,
	`id` text NOT NULL,
	`name` text NOT NULL,
	`kind` text DEFAULT 'key' NOT NULL,
	`hash` text PRIMARY KEY NOT NULL,
	`scopes` text NOT NULL,
	`userId` text,
	`projectIds` text,
	`expiresAt` text,
	`revokedAt` text,
	`rotatedAt` text,
	`lastUsedAt` text,
	`createdAt` text NOT NULL,
	`idempotencyKey` text,
	`createdByKeyId` text,
	`identityId` text,
	`clientId` text,
	`clientName` text,
	`redirectHost` text,
	`grantEndsAt` text,
	`redeemedAt` text,
	`movedTo` integer,
	`suspendedAt` text
) WITHOUT ROWID;
--> statement-breakpoint
CREATE UNIQUE INDEX `apiKeysById` ON `apiKeys` (`organizationId`,`id`);--> statement-breakpoint
CREATE INDEX `apiKeysUnrevoked` ON `apiKeys` (`organizationId`,`kind`,`id`) WHERE "revokedAt" is null;--> statement-breakpoint
CREATE INDEX `apiKeysByUser` ON `apiKeys` (`organizationId`,`userId`,`kind`,`id`) WHERE "revokedAt" is null;--> statement-breakpoint
CREATE INDEX `apiKeysCounted` ON `apiKeys` (`organizationId`,`expiresAt`) WHERE "kind" = 'key' and "revokedAt" is null and "rotatedAt" is null;--> statement-breakpoint
CREATE INDEX `apiKeysSessions` ON `apiKeys` (`organizationId`,`createdByKeyId`,`expiresAt`) WHERE "kind" <> 'key' and "revokedAt" is null;--> statement-breakpoint
CREATE INDEX `apiKeysByEnd` ON `apiKeys` (kind,coalesce("revokedAt", "expiresAt")) WHERE coalesce("revokedAt", "expiresAt") is not null and "movedTo" is null;--> statement-breakpoint
CREATE UNIQUE INDEX `apiKeysByIdempotencyKey` ON `apiKeys` (`organizationId`,`idempotencyKey`) WHERE "idempotencyKey" is not null;--> statement-breakpoint
CREATE INDEX `apiKeysByCreator` ON `apiKeys` (`organizationId`,`createdByKeyId`,`id`,`revokedAt`) WHERE "createdByKeyId" is not null;--> statement-breakpoint
CREATE INDEX `apiKeysByIdentity` ON `apiKeys` (`organizationId`,`identityId`) WHERE "identityId" is not null and "revokedAt" is null;--> statement-breakpoint
CREATE TABLE `auditEvents` (
	`organizationId` text NOT NULL,
	`sequence` integer NOT NULL,
	`id` text NOT NULL,
	`type` text NOT NULL,
	`resourceId` text NOT NULL,
	`parentId` text,
	`resourceName` text,
	`projectId` text,
	`apiKeyId` text,
	`apiKeyName` text,
	`userId` text,
	`requestId` text,
	PRIMARY KEY(`organizationId`, `sequence`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `databases` (
	`number` integer PRIMARY KEY NOT NULL,
	`name` text,
	`state` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `deletions` (
	`organizationId` text NOT NULL,
	`resourceType` text NOT NULL,
	`resourceId` text NOT NULL,
	`projectId` text,
	`agentId` text,
	`deletedAt` text NOT NULL,
	`finalAt` text NOT NULL,
	`purgedAt` text,
	`id` text,
	`row` text,
	PRIMARY KEY(`organizationId`, `resourceType`, `resourceId`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `deletionsByEnd` ON `deletions` (`finalAt`) WHERE "row" is not null;--> statement-breakpoint
CREATE INDEX `deletionsToPurge` ON `deletions` (`organizationId`,`finalAt`) WHERE "purgedAt" is null and "row" is null;--> statement-breakpoint
CREATE UNIQUE INDEX `deletionsById` ON `deletions` (`organizationId`,`id`) WHERE "id" is not null;--> statement-breakpoint
CREATE INDEX `deletionsByParent` ON `deletions` (`organizationId`,`projectId`,`agentId`,`id`) WHERE "id" is not null;--> statement-breakpoint
CREATE TABLE `directory` (
	`organizationId` text PRIMARY KEY NOT NULL,
	`database` integer NOT NULL,
	`movingTo` integer
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `environmentVariables` (
	`organizationId` text NOT NULL,
	`projectId` text NOT NULL,
	`key` text NOT NULL,
	`createdAt` text NOT NULL,
	`updatedAt` text NOT NULL,
	`sealedValue` text NOT NULL,
	PRIMARY KEY(`organizationId`, `projectId`, `key`)
);
--> statement-breakpoint
CREATE INDEX `environmentVariablesByKeyId` ON `environmentVariables` (substr(substr("sealedValue", 4), 1, instr(substr("sealedValue", 4), '.') - 1));--> statement-breakpoint
CREATE TABLE `eventEndpoints` (
	`organizationId` text NOT NULL,
	`id` text NOT NULL,
	`format` text NOT NULL,
	`sealedUrl` text NOT NULL,
	`url` text NOT NULL,
	`sealedSecret` text,
	`previousSealedSecret` text,
	`previousExpiresAt` text,
	`types` text,
	`projectId` text,
	`note` text,
	`batch` integer NOT NULL,
	`deliveredSequence` integer NOT NULL,
	`messageId` text,
	`messageEnd` integer,
	`leaseId` text,
	`leaseExpiresAt` text,
	`failures` integer NOT NULL,
	`failingSince` text,
	`nextAttemptAt` text,
	`disabledAt` text,
	`disabledReason` text,
	`createdAt` text NOT NULL,
	`updatedAt` text NOT NULL,
	`lastAttempts` text,
	PRIMARY KEY(`organizationId`, `id`)
);
--> statement-breakpoint
CREATE INDEX `eventEndpointsByUrlKeyId` ON `eventEndpoints` (substr(substr("sealedUrl", 4), 1, instr(substr("sealedUrl", 4), '.') - 1));--> statement-breakpoint
CREATE INDEX `eventEndpointsByKeyId` ON `eventEndpoints` (substr(substr("sealedSecret", 4), 1, instr(substr("sealedSecret", 4), '.') - 1));--> statement-breakpoint
CREATE INDEX `eventEndpointsByPreviousKeyId` ON `eventEndpoints` (substr(substr("previousSealedSecret", 4), 1, instr(substr("previousSealedSecret", 4), '.') - 1));--> statement-breakpoint
CREATE TABLE `eventUsage` (
	`organizationId` text PRIMARY KEY NOT NULL,
	`countedTo` integer NOT NULL,
	`bytes` integer NOT NULL,
	`removedTo` integer NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `halts` (
	`organizationId` text PRIMARY KEY NOT NULL,
	`kind` text NOT NULL,
	`until` text,
	`reason` text
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `identities` (
	`organizationId` text NOT NULL,
	`id` text NOT NULL,
	`issuer` text NOT NULL,
	`subject` text NOT NULL,
	`userId` text NOT NULL,
	`email` text,
	`role` text NOT NULL,
	`projectIds` text,
	`ruleIds` text,
	`roleByKeyId` text,
	`linkedByKeyId` text,
	`blockedAt` text,
	`lastSignInAt` text,
	`createdAt` text NOT NULL,
	PRIMARY KEY(`organizationId`, `id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE UNIQUE INDEX `identitiesBySubject` ON `identities` (`organizationId`,`issuer`,`subject`);--> statement-breakpoint
CREATE INDEX `identitiesByUser` ON `identities` (`organizationId`,`userId`);--> statement-breakpoint
CREATE INDEX `identitiesByRoleKey` ON `identities` (`organizationId`,`roleByKeyId`) WHERE "roleByKeyId" is not null;--> statement-breakpoint
CREATE INDEX `identitiesByLinkKey` ON `identities` (`organizationId`,`linkedByKeyId`) WHERE "linkedByKeyId" is not null;--> statement-breakpoint
CREATE TABLE `invitations` (
	`organizationId` text NOT NULL,
	`id` text NOT NULL,
	`issuer` text NOT NULL,
	`email` text NOT NULL,
	`role` text NOT NULL,
	`projectIds` text,
	`userId` text,
	`createdByKeyId` text,
	`createdAt` text NOT NULL,
	`expiresAt` text NOT NULL,
	`acceptedAt` text,
	`identityId` text,
	PRIMARY KEY(`organizationId`, `id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `invitationsByCreator` ON `invitations` (`organizationId`,`createdByKeyId`);--> statement-breakpoint
CREATE TABLE `lastTick` (
	`id` integer PRIMARY KEY NOT NULL,
	`scheduledAt` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `missedSpans` (
	`organizationId` text NOT NULL,
	`scheduleId` text NOT NULL,
	`missedFrom` text NOT NULL,
	`missedUntil` text NOT NULL,
	`parentType` text NOT NULL,
	`parentId` text NOT NULL,
	`cron` text NOT NULL,
	`timezone` text NOT NULL,
	PRIMARY KEY(`organizationId`, `scheduleId`, `missedUntil`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `missedSpansByAge` ON `missedSpans` (`missedFrom`);--> statement-breakpoint
CREATE TABLE `objectSearches` (
	`startedAt` text PRIMARY KEY NOT NULL,
	`cursor` text
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `organizationUsage` (
	`organizationId` text PRIMARY KEY NOT NULL,
	`sessions` integer DEFAULT 0 NOT NULL,
	`files` integer DEFAULT 0 NOT NULL,
	`bytes` integer DEFAULT 0 NOT NULL,
	`projects` integer DEFAULT 0 NOT NULL,
	`agents` integer DEFAULT 0 NOT NULL,
	`users` integer DEFAULT 0 NOT NULL,
	`pullRequests` integer DEFAULT 0 NOT NULL,
	`schedules` integer DEFAULT 0 NOT NULL,
	`skills` integer DEFAULT 0 NOT NULL,
	`skillBytes` integer DEFAULT 0 NOT NULL,
	`variables` integer DEFAULT 0 NOT NULL,
	`variableBytes` integer DEFAULT 0 NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `organizations` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`createdAt` text NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `orphanedObjects` (
	`objectKey` text PRIMARY KEY NOT NULL,
	`deleteAfter` text NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `orphanedObjectsByDeleteAfter` ON `orphanedObjects` (`deleteAfter`);--> statement-breakpoint
CREATE TABLE `passes` (
	`name` text PRIMARY KEY NOT NULL,
	`dueAt` text NOT NULL,
	`cursor` text NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `pins` (
	`organizationId` text NOT NULL,
	`userId` text NOT NULL,
	`resourceType` text NOT NULL,
	`resourceId` text NOT NULL,
	`position` integer NOT NULL,
	`createdAt` text NOT NULL,
	PRIMARY KEY(`organizationId`, `userId`, `resourceType`, `resourceId`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `pinsByResource` ON `pins` (`organizationId`,`resourceType`,`resourceId`);--> statement-breakpoint
CREATE TABLE `profilePictures` (
	`organizationId` text NOT NULL,
	`userId` text NOT NULL,
	`objectKey` text,
	`contentType` text,
	`uploadingObjectKey` text,
	`leaseExpiresAt` text,
	`updatedAt` text NOT NULL,
	PRIMARY KEY(`organizationId`, `userId`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `profilePicturesByObjectKey` ON `profilePictures` (`objectKey`);--> statement-breakpoint
CREATE TABLE `projects` (
	`organizationId` text NOT NULL,
	`id` text NOT NULL,
	`name` text NOT NULL,
	`description` text,
	`archivedAt` text,
	`createdAt` text NOT NULL,
	`updatedAt` text NOT NULL,
	`revision` text DEFAULT '0' NOT NULL,
	PRIMARY KEY(`organizationId`, `id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `pullRequests` (
	`organizationId` text NOT NULL,
	`id` text NOT NULL,
	`name` text NOT NULL,
	`projectId` text NOT NULL,
	`createdAt` text NOT NULL,
	`updatedAt` text NOT NULL,
	`revision` text DEFAULT '0' NOT NULL,
	PRIMARY KEY(`organizationId`, `id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `pullRequestsByProject` ON `pullRequests` (`organizationId`,`projectId`,`id`);--> statement-breakpoint
CREATE INDEX `pullRequestsByCreation` ON `pullRequests` (`organizationId`,`createdAt`,`id`);--> statement-breakpoint
CREATE TABLE `runEndpoints` (
	`organizationId` text PRIMARY KEY NOT NULL,
	`url` text NOT NULL,
	`sealedSecret` text NOT NULL,
	`previousSealedSecret` text,
	`previousExpiresAt` text,
	`createdAt` text NOT NULL,
	`updatedAt` text NOT NULL,
	`slowUntil` text
);
--> statement-breakpoint
CREATE INDEX `runEndpointsByKeyId` ON `runEndpoints` (substr(substr("sealedSecret", 4), 1, instr(substr("sealedSecret", 4), '.') - 1));--> statement-breakpoint
CREATE INDEX `runEndpointsByPreviousKeyId` ON `runEndpoints` (substr(substr("previousSealedSecret", 4), 1, instr(substr("previousSealedSecret", 4), '.') - 1));--> statement-breakpoint
CREATE TABLE `runs` (
	`organizationId` text NOT NULL,
	`scheduleId` text NOT NULL,
	`scheduledAt` text NOT NULL,
	`id` text NOT NULL,
	`parentType` text NOT NULL,
	`parentId` text NOT NULL,
	`status` text NOT NULL,
	`failure` text,
	`attempts` integer NOT NULL,
	`lastError` text,
	`lastAttempts` text,
	`nextAttemptAt` text,
	`redeliveredAt` text,
	`claimId` text,
	`claimedBy` text,
	`checkAt` text,
	`startedAt` text,
	`finishedAt` text,
	`message` text,
	`sessionId` text,
	`createdAt` text NOT NULL,
	`updatedAt` text NOT NULL,
	`idempotencyKey` text,
	PRIMARY KEY(`organizationId`, `id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE UNIQUE INDEX `runsBySchedule` ON `runs` (`organizationId`,`scheduleId`,`scheduledAt`);--> statement-breakpoint
CREATE INDEX `runsPending` ON `runs` (`organizationId`,`id`) WHERE "status" = 'pending';--> statement-breakpoint
CREATE INDEX `runsToPull` ON `runs` (`organizationId`,`scheduleId`,`id`) WHERE "status" = 'pending' and "checkAt" is null;--> statement-breakpoint
CREATE INDEX `runsToCheck` ON `runs` (`checkAt`) WHERE "checkAt" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX `runsByIdempotencyKey` ON `runs` (`organizationId`,`scheduleId`,`idempotencyKey`) WHERE "idempotencyKey" is not null;--> statement-breakpoint
CREATE TABLE `schedules` (
	`organizationId` text NOT NULL,
	`id` text NOT NULL,
	`parentType` text NOT NULL,
	`parentId` text NOT NULL,
	`name` text,
	`cron` text,
	`runAt` text,
	`timezone` text NOT NULL,
	`overlap` text DEFAULT 'allow' NOT NULL,
	`maxRunSeconds` integer,
	`pauseAfterFailures` integer,
	`enabledAt` text,
	`lastRunAt` text,
	`nextRunAt` text,
	`createdAt` text NOT NULL,
	`updatedAt` text NOT NULL,
	`idempotencyKey` text,
	`idempotencyFingerprint` text,
	`pausedReason` text,
	`revision` text DEFAULT '0' NOT NULL,
	`note` text,
	`payload` text,
	PRIMARY KEY(`organizationId`, `id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `schedulesByParent` ON `schedules` (`organizationId`,`parentType`,`parentId`,`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `schedulesByIdempotencyKey` ON `schedules` (`organizationId`,`parentType`,`parentId`,`idempotencyKey`) WHERE "idempotencyKey" is not null;--> statement-breakpoint
CREATE INDEX `schedulesDue` ON `schedules` (`nextRunAt`) WHERE "nextRunAt" is not null;--> statement-breakpoint
CREATE TABLE `sessionFiles` (
	`organizationId` text NOT NULL,
	`sessionId` text NOT NULL,
	`id` text NOT NULL,
	`path` text NOT NULL,
	`objectKey` text NOT NULL,
	`sizeBytes` integer NOT NULL,
	`createdAt` text NOT NULL,
	`updatedAt` text NOT NULL,
	`contentType` text,
	`sha256` text NOT NULL,
	PRIMARY KEY(`organizationId`, `sessionId`, `id`)
);
--> statement-breakpoint
CREATE UNIQUE INDEX `sessionFilesById` ON `sessionFiles` (`organizationId`,`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `sessionFilesByPath` ON `sessionFiles` (`organizationId`,`sessionId`,`path`);--> statement-breakpoint
CREATE INDEX `sessionFilesByObjectKey` ON `sessionFiles` (`objectKey`);--> statement-breakpoint
CREATE TABLE `sessions` (
	`organizationId` text NOT NULL,
	`id` text NOT NULL,
	`name` text NOT NULL,
	`projectId` text NOT NULL,
	`createdAt` text NOT NULL,
	`updatedAt` text NOT NULL,
	`revision` text DEFAULT '0' NOT NULL,
	PRIMARY KEY(`organizationId`, `id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `sessionsByProject` ON `sessions` (`organizationId`,`projectId`,`id`);--> statement-breakpoint
CREATE INDEX `sessionsByCreation` ON `sessions` (`organizationId`,`createdAt`,`id`);--> statement-breakpoint
CREATE TABLE `signInRules` (
	`organizationId` text NOT NULL,
	`id` text NOT NULL,
	`issuer` text NOT NULL,
	`claim` text NOT NULL,
	`value` text NOT NULL,
	`role` text NOT NULL,
	`projectIds` text,
	`createdByKeyId` text,
	`createdAt` text NOT NULL,
	`updatedAt` text NOT NULL,
	`revision` text DEFAULT '0' NOT NULL,
	PRIMARY KEY(`organizationId`, `id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `signInRulesByCreator` ON `signInRules` (`organizationId`,`createdByKeyId`);--> statement-breakpoint
CREATE TABLE `skillContents` (
	`organizationId` text NOT NULL,
	`skillId` text NOT NULL,
	`sha256` text NOT NULL,
	`content` text NOT NULL,
	PRIMARY KEY(`organizationId`, `skillId`, `sha256`)
);
--> statement-breakpoint
CREATE TABLE `skillFeeds` (
	`organizationId` text NOT NULL,
	`id` text NOT NULL,
	`hash` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`skills` text,
	`expiresAt` text,
	`apiKeyId` text NOT NULL,
	`createdAt` text NOT NULL,
	`movedTo` integer
) WITHOUT ROWID;
--> statement-breakpoint
CREATE UNIQUE INDEX `skillFeedsById` ON `skillFeeds` (`organizationId`,`id`);--> statement-breakpoint
CREATE INDEX `skillFeedsByKey` ON `skillFeeds` (`organizationId`,`apiKeyId`);--> statement-breakpoint
CREATE TABLE `skillVersions` (
	`organizationId` text NOT NULL,
	`skillId` text NOT NULL,
	`version` integer NOT NULL,
	`name` text NOT NULL,
	`description` text NOT NULL,
	`digest` text NOT NULL,
	`objectKey` text NOT NULL,
	`archiveBytes` integer NOT NULL,
	`files` text NOT NULL,
	`message` text,
	`apiKeyId` text NOT NULL,
	`userId` text,
	`createdAt` text NOT NULL,
	PRIMARY KEY(`organizationId`, `skillId`, `version`)
);
--> statement-breakpoint
CREATE INDEX `skillVersionsByObjectKey` ON `skillVersions` (`objectKey`);--> statement-breakpoint
CREATE TABLE `skills` (
	`organizationId` text NOT NULL,
	`id` text NOT NULL,
	`name` text NOT NULL,
	`description` text NOT NULL,
	`version` integer NOT NULL,
	`latestVersion` integer NOT NULL,
	`revision` text NOT NULL,
	`createdAt` text NOT NULL,
	`updatedAt` text NOT NULL,
	`idempotencyKey` text,
	`idempotencyFingerprint` text,
	PRIMARY KEY(`organizationId`, `id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE UNIQUE INDEX `skillsByName` ON `skills` (`organizationId`,`name`);--> statement-breakpoint
CREATE UNIQUE INDEX `skillsByIdempotencyKey` ON `skills` (`organizationId`,`idempotencyKey`) WHERE "idempotencyKey" is not null;--> statement-breakpoint
CREATE TABLE `tickReports` (
	`database` integer PRIMARY KEY NOT NULL,
	`scheduledAt` text NOT NULL,
	`failedCalls` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `users` (
	`organizationId` text NOT NULL,
	`id` text NOT NULL,
	`name` text NOT NULL,
	`createdAt` text NOT NULL,
	`updatedAt` text NOT NULL,
	`revision` text DEFAULT '0' NOT NULL,
	PRIMARY KEY(`organizationId`, `id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `variableRequests` (
	`organizationId` text NOT NULL,
	`projectId` text NOT NULL,
	`idempotencyKey` text NOT NULL,
	`idempotencyFingerprint` text NOT NULL,
	`createdAt` text NOT NULL,
	PRIMARY KEY(`organizationId`, `projectId`, `idempotencyKey`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `variableRequestsByAge` ON `variableRequests` (`createdAt`);--> statement-breakpoint
-- The triggers that count what an organization uses of its quotas (src/db/usage.ts counts the same).
CREATE TRIGGER `organizationAdded` AFTER INSERT ON `organizations` BEGIN
  INSERT INTO `organizationUsage` (`organizationId`) VALUES (new.`id`) ON CONFLICT DO NOTHING;
END;--> statement-breakpoint
CREATE TRIGGER `sessionAdded` AFTER INSERT ON `sessions` BEGIN
  UPDATE `organizationUsage` SET `sessions` = `sessions` + 1 WHERE `organizationId` = new.`organizationId`;
END;--> statement-breakpoint
CREATE TRIGGER `sessionRemoved` AFTER DELETE ON `sessions` BEGIN
  UPDATE `organizationUsage` SET `sessions` = `sessions` - 1 WHERE `organizationId` = old.`organizationId`;
END;--> statement-breakpoint
CREATE TRIGGER `fileAdded` AFTER INSERT ON `sessionFiles` BEGIN
  UPDATE `organizationUsage` SET `files` = `files` + 1, `bytes` = `bytes` + new.`sizeBytes` WHERE `organizationId` = new.`organizationId`;
END;--> statement-breakpoint
CREATE TRIGGER `fileReplaced` AFTER UPDATE OF `sizeBytes` ON `sessionFiles` BEGIN
  UPDATE `organizationUsage` SET `bytes` = `bytes` - old.`sizeBytes` + new.`sizeBytes`
  WHERE `organizationId` = new.`organizationId`;
END;--> statement-breakpoint
CREATE TRIGGER `fileRemoved` AFTER DELETE ON `sessionFiles` BEGIN
  UPDATE `organizationUsage` SET `files` = `files` - 1, `bytes` = `bytes` - old.`sizeBytes`
  WHERE `organizationId` = old.`organizationId`;
END;--> statement-breakpoint
CREATE TRIGGER `projectAdded` AFTER INSERT ON `projects` BEGIN
  UPDATE `organizationUsage` SET `projects` = `projects` + 1 WHERE `organizationId` = new.`organizationId`;
END;--> statement-breakpoint
CREATE TRIGGER `projectRemoved` AFTER DELETE ON `projects` BEGIN
  UPDATE `organizationUsage` SET `projects` = `projects` - 1 WHERE `organizationId` = old.`organizationId`;
END;--> statement-breakpoint
CREATE TRIGGER `agentAdded` AFTER INSERT ON `agents` BEGIN
  UPDATE `organizationUsage` SET `agents` = `agents` + 1 WHERE `organizationId` = new.`organizationId`;
END;--> statement-breakpoint
CREATE TRIGGER `agentRemoved` AFTER DELETE ON `agents` BEGIN
  UPDATE `organizationUsage` SET `agents` = `agents` - 1 WHERE `organizationId` = old.`organizationId`;
END;--> statement-breakpoint
CREATE TRIGGER `userAdded` AFTER INSERT ON `users` BEGIN
  UPDATE `organizationUsage` SET `users` = `users` + 1 WHERE `organizationId` = new.`organizationId`;
END;--> statement-breakpoint
CREATE TRIGGER `userRemoved` AFTER DELETE ON `users` BEGIN
  UPDATE `organizationUsage` SET `users` = `users` - 1 WHERE `organizationId` = old.`organizationId`;
END;--> statement-breakpoint
CREATE TRIGGER `pullRequestAdded` AFTER INSERT ON `pullRequests` BEGIN
  UPDATE `organizationUsage` SET `pullRequests` = `pullRequests` + 1 WHERE `organizationId` = new.`organizationId`;
END;--> statement-breakpoint
CREATE TRIGGER `pullRequestRemoved` AFTER DELETE ON `pullRequests` BEGIN
  UPDATE `organizationUsage` SET `pullRequests` = `pullRequests` - 1 WHERE `organizationId` = old.`organizationId`;
END;--> statement-breakpoint
CREATE TRIGGER `scheduleAdded` AFTER INSERT ON `schedules` BEGIN
  UPDATE `organizationUsage` SET `schedules` = `schedules` + 1 WHERE `organizationId` = new.`organizationId`;
END;--> statement-breakpoint
CREATE TRIGGER `scheduleRemoved` AFTER DELETE ON `schedules` BEGIN
  UPDATE `organizationUsage` SET `schedules` = `schedules` - 1 WHERE `organizationId` = old.`organizationId`;
END;--> statement-breakpoint
CREATE TRIGGER `skillAdded` AFTER INSERT ON `skills` BEGIN
  UPDATE `organizationUsage` SET `skills` = `skills` + 1 WHERE `organizationId` = new.`organizationId`;
END;--> statement-breakpoint
CREATE TRIGGER `skillRemoved` AFTER DELETE ON `skills` BEGIN
  UPDATE `organizationUsage` SET `skills` = `skills` - 1 WHERE `organizationId` = old.`organizationId`;
END;--> statement-breakpoint
CREATE TRIGGER `skillContentAdded` AFTER INSERT ON `skillContents` BEGIN
  UPDATE `organizationUsage` SET `skillBytes` = `skillBytes` + octet_length(new.`content`) WHERE `organizationId` = new.`organizationId`;
END;--> statement-breakpoint
CREATE TRIGGER `skillContentRemoved` AFTER DELETE ON `skillContents` BEGIN
  UPDATE `organizationUsage` SET `skillBytes` = `skillBytes` - octet_length(old.`content`) WHERE `organizationId` = old.`organizationId`;
END;--> statement-breakpoint
CREATE TRIGGER `variableAdded` AFTER INSERT ON `environmentVariables` BEGIN
  UPDATE `organizationUsage` SET `variables` = `variables` + 1, `variableBytes` = `variableBytes` + octet_length(new.`sealedValue`) WHERE `organizationId` = new.`organizationId`;
END;--> statement-breakpoint
CREATE TRIGGER `variableReplaced` AFTER UPDATE OF `sealedValue` ON `environmentVariables`
WHEN octet_length(new.`sealedValue`) <> octet_length(old.`sealedValue`) BEGIN
  UPDATE `organizationUsage` SET `variableBytes` = `variableBytes` - octet_length(old.`sealedValue`) + octet_length(new.`sealedValue`) WHERE `organizationId` = new.`organizationId`;
END;--> statement-breakpoint
CREATE TRIGGER `variableRemoved` AFTER DELETE ON `environmentVariables` BEGIN
  UPDATE `organizationUsage` SET `variables` = `variables` - 1, `variableBytes` = `variableBytes` - octet_length(old.`sealedValue`) WHERE `organizationId` = old.`organizationId`;
END;--> statement-breakpoint
CREATE TRIGGER `deletionAdded` AFTER INSERT ON `deletions` WHEN new.`row` IS NOT NULL BEGIN
  UPDATE `organizationUsage` SET `projects` = `projects` + (new.`resourceType` = 'project'),
    `agents` = `agents` + (new.`resourceType` = 'agent'),
    `sessions` = `sessions` + (new.`resourceType` = 'session'),
    `pullRequests` = `pullRequests` + (new.`resourceType` = 'pull_request'),
    `users` = `users` + (new.`resourceType` = 'user'),
    `schedules` = `schedules` + (new.`resourceType` = 'schedule'),
    `skills` = `skills` + (new.`resourceType` = 'skill')
  WHERE `organizationId` = new.`organizationId`;
END;--> statement-breakpoint
CREATE TRIGGER `deletionFinal` AFTER UPDATE OF `row` ON `deletions` WHEN old.`row` IS NOT NULL AND new.`row` IS NULL BEGIN
  UPDATE `organizationUsage` SET `projects` = `projects` - (old.`resourceType` = 'project'),
    `agents` = `agents` - (old.`resourceType` = 'agent'),
    `sessions` = `sessions` - (old.`resourceType` = 'session'),
    `pullRequests` = `pullRequests` - (old.`resourceType` = 'pull_request'),
    `users` = `users` - (old.`resourceType` = 'user'),
    `schedules` = `schedules` - (old.`resourceType` = 'schedule'),
    `skills` = `skills` - (old.`resourceType` = 'skill')
  WHERE `organizationId` = old.`organizationId`;
END;--> statement-breakpoint
CREATE TRIGGER `deletionRemoved` AFTER DELETE ON `deletions` WHEN old.`row` IS NOT NULL BEGIN
  UPDATE `organizationUsage` SET `projects` = `projects` - (old.`resourceType` = 'project'),
    `agents` = `agents` - (old.`resourceType` = 'agent'),
    `sessions` = `sessions` - (old.`resourceType` = 'session'),
    `pullRequests` = `pullRequests` - (old.`resourceType` = 'pull_request'),
    `users` = `users` - (old.`resourceType` = 'user'),
    `schedules` = `schedules` - (old.`resourceType` = 'schedule'),
    `skills` = `skills` - (old.`resourceType` = 'skill')
  WHERE `organizationId` = old.`organizationId`;
END;--> statement-breakpoint
-- Its events are counted by the tick (src/maintenance/event-bytes.ts counts the same).
CREATE TRIGGER `eventRemoved` AFTER DELETE ON `auditEvents` BEGIN
  UPDATE `eventUsage` SET `removedTo` = max(`removedTo`, old.`sequence`),
    `bytes` = `bytes` - iif(old.`sequence` <= `countedTo`, octet_length(json_array(old.`organizationId`, old.`sequence`, old.`id`, old.`type`, old.`resourceId`, old.`parentId`, old.`resourceName`, old.`projectId`, old.`apiKeyId`, old.`apiKeyName`, old.`userId`, old.`requestId`)), 0)
    WHERE `organizationId` = old.`organizationId`;
END;
