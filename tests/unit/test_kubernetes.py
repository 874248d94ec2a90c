"""The manifests of `deploy/kubernetes` name what exists: settings, ports, volumes, services, images."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import kubernetes_validate
import pytest
import yaml

from api.security.auth import OPEN_PATHS
from settings import Settings, load_settings, variables

REPOSITORY = Path(__file__).parents[2]
MANIFESTS: list[dict[str, Any]] = list(
    yaml.safe_load_all((REPOSITORY / "deploy/kubernetes/treeline.yaml").read_text(encoding="utf-8"))
)
COMPOSE: dict[str, Any] = yaml.safe_load((REPOSITORY / "compose.yaml").read_text(encoding="utf-8"))
SERVICES = {one["metadata"]["name"]: one["spec"] for one in MANIFESTS if one["kind"] == "Service"}
WORKLOADS = {one["metadata"]["name"]: one["spec"] for one in MANIFESTS if one["kind"] in ("StatefulSet", "Deployment")}
SECRETS = {
    "keys": "a-key-of-some-length",
    "database-url": "postgresql://u:p@treeline-postgres/treeline",
    "database-password": "p",
}
(CONFIGURED,) = (one["data"] for one in MANIFESTS if one["kind"] == "ConfigMap")


def containers() -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    for spec in WORKLOADS.values():
        for container in spec["template"]["spec"]["containers"]:
            yield spec, container


def settings_of(name: str) -> Settings:
    (container,) = WORKLOADS[name]["template"]["spec"]["containers"]
    env = {
        one["name"]: one.get("value") or SECRETS[one["valueFrom"]["secretKeyRef"]["key"]] for one in container["env"]
    }
    assert env.keys() | CONFIGURED.keys() <= variables().keys()
    return load_settings({**CONFIGURED, **env}, None)


@pytest.mark.parametrize("version", ["1.30", "1.37"])
@pytest.mark.parametrize("manifest", MANIFESTS, ids=lambda one: f"{one['kind']} {one['metadata']['name']}")
def test_a_manifest_is_what_kubernetes_takes(manifest: dict[str, Any], version: str) -> None:
    kubernetes_validate.validate(manifest, version, strict=True)


def test_a_misspelt_field_would_be_noticed() -> None:
    with pytest.raises(kubernetes_validate.ValidationError, match="replica"):
        kubernetes_validate.validate(
            {**MANIFESTS[1], "spec": {**MANIFESTS[1]["spec"], "replica": 1}}, "1.37", strict=True
        )


def test_readers_find_the_writer_and_all_find_the_stores() -> None:
    writer, reader = settings_of("treeline-writer"), settings_of("treeline-reader")

    assert (writer.serve.role, reader.serve.role) == ("writer", "reader")
    assert WORKLOADS["treeline-writer"]["replicas"] == 1
    assert writer.index == reader.index
    assert reader.index.database_url is not None
    for url in (reader.serve.writer_url, reader.index.chroma_url, reader.index.database_url.get_secret_value()):
        parts = urlsplit(str(url))
        (port,) = SERVICES[str(parts.hostname)]["ports"]
        assert port["port"] == (parts.port or 5432)
    for settings in (writer, reader):
        assert settings.serve.known_keys(), "pods are reached from other machines"
        assert settings.serve.proxies, "clients are reached through an ingress, the writer through readers"


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_leads_to_a_port_of_its_pods(name: str) -> None:
    (spec,) = (one for one in WORKLOADS.values() if one["selector"]["matchLabels"] == SERVICES[name]["selector"])
    ports = [port["name"] for container in spec["template"]["spec"]["containers"] for port in container["ports"]]

    assert [port["targetPort"] for port in SERVICES[name]["ports"]] == ports


def test_pods_have_the_labels_they_are_chosen_by_the_volumes_they_mount_and_probes_at_their_ports() -> None:
    for spec, container in containers():
        pod = spec["template"]
        assert pod["metadata"]["labels"] == spec["selector"]["matchLabels"]
        claims = [claim["metadata"]["name"] for claim in spec.get("volumeClaimTemplates", [])]
        volumes = [volume["name"] for volume in pod["spec"].get("volumes", [])]
        assert [mount["name"] for mount in container["volumeMounts"]] == claims + volumes
        probes = [value for name, value in container.items() if name.endswith("Probe")]
        assert probes
        named = {port["name"] for port in container["ports"]}
        assert all(probe["httpGet"]["port"] in named for probe in probes if "httpGet" in probe)
        if "serviceName" in spec:
            assert spec["serviceName"] in SERVICES
        if container["image"] == "treeline":
            paths = {probe["httpGet"]["path"] for probe in probes}
            assert paths <= OPEN_PATHS & {"/health", "/ready"}, "a probe has no key"
    (budget,) = (one["spec"] for one in MANIFESTS if one["kind"] == "PodDisruptionBudget")
    assert budget["selector"] == WORKLOADS["treeline-reader"]["selector"]


def test_the_service_s_data_is_where_its_volume_is_and_its_port_is_the_one_it_listens_on() -> None:
    for name in ("treeline-writer", "treeline-reader"):
        (container,) = WORKLOADS[name]["template"]["spec"]["containers"]
        settings = settings_of(name)
        assert container["ports"][0]["containerPort"] == settings.serve.port
        for folder in (settings.index.dir, settings.pipelines.dir):
            assert Path(container["volumeMounts"][0]["mountPath"]) in folder.parents


def test_images_are_those_of_compose() -> None:
    composed = {service["image"] for service in COMPOSE["services"].values()}

    assert {container["image"] for _, container in containers()} <= composed
