CREATE INDEX `environmentVariablesByKeyId` ON `environmentVariables` (substr(substr("sealedValue", 4), 1, instr(substr("sealedValue", 4), '.') - 1));--> statement-breakpoint
CREATE INDEX `runEndpointsByKeyId` ON `runEndpoints` (substr(substr("sealedSecret", 4), 1, instr(substr("sealedSecret", 4), '.') - 1));--> statement-breakpoint
CREATE INDEX `runEndpointsByPreviousKeyId` ON `runEndpoints` (substr(substr("previousSealedSecret", 4), 1, instr(substr("previousSealedSecret", 4), '.') - 1));
